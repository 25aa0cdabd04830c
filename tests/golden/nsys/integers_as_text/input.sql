CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1,'gemm'),(2,'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),(3,'cudaLaunchKernel_v7000'),(4,'cudaStreamSynchronize_v3020');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start TEXT, end TEXT, deviceId TEXT, streamId TEXT, correlationId TEXT, globalPid TEXT, demangledName TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start TEXT, end TEXT, eventClass TEXT, globalTid TEXT, correlationId TEXT, nameId TEXT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  ('1000','2000','0','7','1','1677721600','1'),
  ('1500','3000','0','8','2','1677721600','2');
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
  ('100','200','0','1677721701','1','3'),
  ('300','400','0','1677721701','2','3'),
  ('2200','2400','0','1677721701','3','4');
