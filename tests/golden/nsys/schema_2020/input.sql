-- Before 2021.5: no table of the export itself, no ENUM tables, no mangled names, ordinals in deviceId, calls of the
-- driver in the table of the runtime, ranges without registered strings, OSRT with a correlation id.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, deviceId INTEGER NOT NULL, name TEXT NOT NULL, busLocation TEXT,
  isDiscrete INTEGER);
CREATE TABLE TARGET_INFO_CUDA_GPU (id INTEGER, name TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, launchType INTEGER, gridId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
  category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
  nameId INTEGER, returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'Quadro RTX 6000', '0000:3b:00.0', 1), (0, 0, 'Tesla T4', '0000:04:00.0', 1);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'cuLaunchKernel'), (3, 'cudaDeviceSynchronize_v3020'),
  (4, 'ncclAllReduceRingLLKernel_sum_f32(ncclColl)'), (5, 'poll');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1000, 3000, 1, 1, 7, 1, 100 << 24, 1, 1, 1, 1), (3000, 4000, 1, 1, 7, 2, 100 << 24, 4, 4, 1, 2),
  (9000, 11000, 1, 1, 7, 3, 100 << 24, 1, 1, 1, 3);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (500, 600, 1, (100 << 24) | 101, 1, 2, 0, NULL), (700, 800, 1, (100 << 24) | 101, 2, 2, 0, NULL),
  (4000, 8000, 0, (100 << 24) | 101, 9, 3, 0, NULL), (8100, 8200, 1, (100 << 24) | 101, 3, 2, 0, NULL);
INSERT INTO NVTX_EVENTS VALUES (0, 9000, 59, NULL, 0, 0, 'step 1', (100 << 24) | 101, NULL, NULL, NULL);
INSERT INTO OSRT_API VALUES (0, 5, 27, (100 << 24) | 101, 1, 5, 0, 0, 0);
