-- Tables as an exporter makes them, with the columns that matter.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, cuDevice INTEGER, uuid TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT,
  globalPid INTEGER);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION','2025.1.1'),('EXPORT_SCHEMA_VERSION','3.17.1');
INSERT INTO TARGET_INFO_GPU VALUES (0,'NVIDIA H100 80GB HBM3',0,'gpu-0'),(1,'NVIDIA H100 80GB HBM3',1,'gpu-1');
INSERT INTO StringIds VALUES (1,'gemm'),(2,'cudaLaunchKernel_v7000'),(3,'cudaMemcpyAsync_v3020'),
  (4,'cudaStreamSynchronize_v3020'),(5,'cudaGraphLaunch_v10000'),
  (6,'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),(7,'cudaMemcpyPeerAsync_v4000');
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (10000,110000,0,1,7,1,100<<24,1,1,NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  (0,5000,0,(100<<24)|101,1,2,0);
INSERT INTO DIAGNOSTIC_EVENT VALUES
  (5,0,1,2,'CUDA profiling might have lost some events: buffer overflow',100<<24),
  (6,0,1,1,'Profiling has started.',100<<24);
