-- Tables as rocprofv3 makes them from schema 4 on, with the columns that matter: rows point at tracks and times.
CREATE TABLE `rocpd_metadata_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "tag" TEXT NOT NULL, "value" TEXT NOT NULL);
CREATE TABLE `rocpd_string_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  "guid" TEXT DEFAULT "0000abcd-1111-2222-3333-444455556666" NOT NULL, "string" TEXT NOT NULL UNIQUE ON CONFLICT ABORT);
CREATE TABLE `rocpd_info_agent_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  "nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "type" TEXT CHECK ("type" IN ('CPU', 'GPU')), "absolute_index" INTEGER,
  "logical_index" INTEGER, "type_index" INTEGER, "uuid" INTEGER, "name" TEXT, "model_name" TEXT, "product_name" TEXT);
CREATE TABLE `rocpd_info_kernel_symbol_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  "pid" INTEGER NOT NULL, "code_object_id" INTEGER NOT NULL, "kernel_name" TEXT, "display_name" TEXT);
CREATE TABLE `rocpd_event_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  "category_id" INTEGER, "stack_id" INTEGER, "parent_stack_id" INTEGER, "correlation_id" INTEGER,
  "extdata" JSONB DEFAULT "{}" NOT NULL);
CREATE TABLE `rocpd_info_category_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL);
CREATE TABLE `rocpd_track_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "nid" INTEGER NOT NULL,
  "ppid" INTEGER, "pid" INTEGER, "tid" INTEGER, "agent_id" INTEGER, "queue_id" INTEGER, "stream_id" INTEGER, "name_id" INTEGER);
CREATE TABLE `rocpd_timestamp_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "value" BIGINT NOT NULL);
CREATE TABLE `rocpd_region_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "track_id" INTEGER NOT NULL,
  "name_id" INTEGER NOT NULL, "start_id" INTEGER NOT NULL, "end_id" INTEGER NOT NULL, "event_id" INTEGER);
CREATE TABLE `rocpd_kernel_dispatch_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  "track_id" INTEGER NOT NULL, "kernel_id" INTEGER NOT NULL, "start_id" INTEGER NOT NULL, "end_id" INTEGER NOT NULL,
  "event_id" INTEGER);
CREATE TABLE `rocpd_memory_copy_0000abcd_1111_2222_3333_444455556666` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  "track_id" INTEGER NOT NULL, "start_id" INTEGER NOT NULL, "end_id" INTEGER NOT NULL, "name_id" INTEGER NOT NULL,
  "dst_agent_id" INTEGER, "src_agent_id" INTEGER, "size" INTEGER NOT NULL, "event_id" INTEGER);
CREATE VIEW `rocpd_metadata` AS SELECT * FROM `rocpd_metadata_0000abcd_1111_2222_3333_444455556666`;
CREATE VIEW `rocpd_string` AS SELECT * FROM `rocpd_string_0000abcd_1111_2222_3333_444455556666`;
CREATE VIEW `rocpd_event` AS SELECT * FROM `rocpd_event_0000abcd_1111_2222_3333_444455556666`;
CREATE VIEW `rocpd_region` AS SELECT * FROM `rocpd_region_0000abcd_1111_2222_3333_444455556666`;
CREATE VIEW `rocpd_kernel_dispatch` AS SELECT * FROM `rocpd_kernel_dispatch_0000abcd_1111_2222_3333_444455556666`;
CREATE VIEW `rocpd_memory_copy` AS SELECT * FROM `rocpd_memory_copy_0000abcd_1111_2222_3333_444455556666`;
INSERT INTO `rocpd_info_agent_0000abcd_1111_2222_3333_444455556666` VALUES
  (0,1,4242,'CPU',0,0,0,0,NULL,'','AMD EPYC 9654'), (4,1,4242,'GPU',4,4,0,29857,NULL,'','AMD Instinct MI300X'),
  (5,1,4242,'GPU',5,5,1,29857,NULL,'','AMD Instinct MI300X');
INSERT INTO `rocpd_metadata_0000abcd_1111_2222_3333_444455556666` VALUES (1,'schema_version','4.0.0');
INSERT INTO `rocpd_info_category_0000abcd_1111_2222_3333_444455556666` VALUES
  (1,'hip_api'),
  (2,'marker_api'),
  (3,'kernel_dispatch'),
  (4,'memory_copy'),
  (5,'rccl_api');
INSERT INTO `rocpd_string_0000abcd_1111_2222_3333_444455556666` (id, string) VALUES
  (1,'step 0'), (2,'step 1'), (3,'step 2'), (4,'step 9'), (5,'MEMORY_COPY_HOST_TO_DEVICE'), (6,'hipMemcpyAsync'), (7,'hipLaunchKernel'), (8,'hipStreamSynchronize'), (9,'ncclAllReduce');
-- Track 1: the host thread; 2: the stream of copies and kernels; 3: that of communication.
INSERT INTO `rocpd_track_0000abcd_1111_2222_3333_444455556666` VALUES
  (1,1,1,4242,4243,NULL,NULL,NULL,NULL),
  (2,1,1,4242,4243,4,1,1,NULL),
  (3,1,1,4242,4243,4,2,2,NULL);
INSERT INTO `rocpd_info_kernel_symbol_0000abcd_1111_2222_3333_444455556666` VALUES
  (1,4242,1,'gemm.kd','gemm(float*, float const*)'),
  (2,4242,1,'_Z23ncclDevKernel_Generic_1','ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)');
INSERT INTO `rocpd_timestamp_0000abcd_1111_2222_3333_444455556666` VALUES
  (1,1010000),
  (2,1000000),
  (3,1040000),
  (4,1030000),
  (5,1065000),
  (6,1045000),
  (7,1060000),
  (8,1050000),
  (9,1730000),
  (10,1070000),
  (11,1950000),
  (12,1000000),
  (13,1120000),
  (14,1020000),
  (15,1520000),
  (16,1120000),
  (17,1720000),
  (18,1420000),
  (19,2010000),
  (20,2000000),
  (21,2040000),
  (22,2030000),
  (23,2065000),
  (24,2045000),
  (25,2060000),
  (26,2050000),
  (27,2730000),
  (28,2070000),
  (29,2950000),
  (30,2000000),
  (31,2120000),
  (32,2020000),
  (33,2520000),
  (34,2120000),
  (35,2720000),
  (36,2420000),
  (37,3010000),
  (38,3000000),
  (39,3040000),
  (40,3030000),
  (41,3065000),
  (42,3045000),
  (43,3060000),
  (44,3050000),
  (45,3730000),
  (46,3070000),
  (47,3950000),
  (48,3000000),
  (49,3120000),
  (50,3020000),
  (51,3520000),
  (52,3120000),
  (53,3720000),
  (54,3420000),
  (55,1500100),
  (56,1500000);
INSERT INTO `rocpd_event_0000abcd_1111_2222_3333_444455556666` VALUES
  (1,1,1,0,0,'{}'),
  (2,1,2,0,0,'{}'),
  (6,5,6,0,0,'{}'),
  (3,1,3,0,0,'{}'),
  (4,1,4,0,0,'{}'),
  (5,2,5,0,0,'{"message": "roctxThreadRangeA"}'),
  (101,4,1,1,0,'{}'),
  (102,3,2,2,0,'{}'),
  (103,3,3,3,0,'{}'),
  (11,1,11,0,0,'{}'),
  (12,1,12,0,0,'{}'),
  (16,5,16,0,0,'{}'),
  (13,1,13,0,0,'{}'),
  (14,1,14,0,0,'{}'),
  (15,2,15,0,0,'{"message": "roctxThreadRangeA"}'),
  (111,4,11,11,0,'{}'),
  (112,3,12,12,0,'{}'),
  (113,3,13,13,0,'{}'),
  (21,1,21,0,0,'{}'),
  (22,1,22,0,0,'{}'),
  (26,5,26,0,0,'{}'),
  (23,1,23,0,0,'{}'),
  (24,1,24,0,0,'{}'),
  (25,2,25,0,0,'{"message": "roctxThreadRangeA"}'),
  (121,4,21,21,0,'{}'),
  (122,3,22,22,0,'{}'),
  (123,3,23,23,0,'{}'),
  (99,2,99,0,0,'{"message": "roctxMarkA"}');
INSERT INTO `rocpd_region_0000abcd_1111_2222_3333_444455556666` VALUES
  (1,1,6,2,1,1),
  (2,1,7,4,3,2),
  (6,1,9,6,5,6),
  (3,1,7,8,7,3),
  (4,1,8,10,9,4),
  (5,1,1,12,11,5),
  (11,1,6,20,19,11),
  (12,1,7,22,21,12),
  (16,1,9,24,23,16),
  (13,1,7,26,25,13),
  (14,1,8,28,27,14),
  (15,1,2,30,29,15),
  (21,1,6,38,37,21),
  (22,1,7,40,39,22),
  (26,1,9,42,41,26),
  (23,1,7,44,43,23),
  (24,1,8,46,45,24),
  (25,1,3,48,47,25),
  (99,1,4,56,55,99);
INSERT INTO `rocpd_memory_copy_0000abcd_1111_2222_3333_444455556666` VALUES
  (1,2,14,13,5,4,0,1048576,101),
  (2,2,32,31,5,4,0,1048576,111),
  (3,2,50,49,5,4,0,1048576,121);
INSERT INTO `rocpd_kernel_dispatch_0000abcd_1111_2222_3333_444455556666` VALUES
  (1,2,1,16,15,102),
  (2,3,2,18,17,103),
  (3,2,1,34,33,112),
  (4,3,2,36,35,113),
  (5,2,1,52,51,122),
  (6,3,2,54,53,123);
