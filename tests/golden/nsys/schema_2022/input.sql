-- 2021.5 to 2023.2: EXPORT_META_DATA, mangledName, the driver's version without points, ranges by registered string.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, uuid TEXT, cuDevice INTEGER);
CREATE TABLE ENUM_CUDA_KRENEL_LAUNCH_TYPE (id INTEGER, name TEXT, label TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
  mangledName INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
  color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
  uint64Value INTEGER, jsonTextId INTEGER);
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2022.4.2.1'), ('EXPORT_SCHEMA_VERSION', '3.0.0');
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'd', 'NvDriverVersion', 1, '5303002'), (1, 'd', 'CudaDriverVersion', 2, '12010');
INSERT INTO TARGET_INFO_GPU VALUES (0, 5, 'NVIDIA GeForce RTX 3090', 'u5', 0);
INSERT INTO StringIds VALUES (1, 'ncclKernel_AllReduce_RING_LL_Sum_half(ncclDevComm*, unsigned long, ncclWork*)'),
  (2, 'cudaLaunchKernel_v7000'), (3, 'step 1'), (4, 'step 2'), (5, 'step 3'), (6, '_Z4gemmPf'), (7, 'cudaLaunchKernel_v7000_ptsz');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1000, 1500, 0, 1, 7, 1, 100 << 24, NULL, NULL, 6, NULL), (11000, 11500, 0, 1, 7, 2, 100 << 24, 1, 1, NULL, NULL),
  (21000, 21500, 0, 1, 7, 3, 100 << 24, NULL, NULL, 6, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, 0, (100 << 24) | 101, 1, 2, 0, NULL),
  (10100, 10200, 0, (100 << 24) | 101, 2, 7, 0, NULL), (20100, 20200, 0, (100 << 24) | 101, 3, 2, 0, NULL);
INSERT INTO NVTX_EVENTS VALUES
  (0, 10000, 59, NULL, 0, 0, NULL, (100 << 24) | 101, NULL, 3, 0, NULL, NULL),
  (10000, 20000, 60, 1, 0, 0, NULL, (100 << 24) | 101, (100 << 24) | 102, 4, 0, NULL, NULL),
  (20000, 30000, 59, NULL, 0, 0, NULL, (100 << 24) | 101, NULL, 5, 0, NULL, NULL),
  (5, NULL, 34, NULL, 0, 0, 'a mark', (100 << 24) | 101, NULL, NULL, 0, NULL, NULL);
