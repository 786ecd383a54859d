/* schema.c -- tables of Nsight Systems exports as their schema versions have them: columns are inserted in the middle,
 * tables are renamed. */
#include <string.h>

#include "db.h"
#include "synth.h"

const char *const db_versions[] = { "3.0.0", "3.7.2", "3.11.1", "3.13.1", "3.24.14", "3.25.0", "3.28.1", NULL };
const char db_version_choices[] = "3.0.0|3.7.2|3.11.1|3.13.1|3.24.14|3.25.0|3.28.1";
enum { LAST = 99 };

const struct db_spec db_specs[] = {
	{ "StringIds", 0, LAST, "id:I!* value:T!" },
	{ "ANALYSIS_FILE", 0, 3, "id:I!* filename:T! content:T! globalPid:I!" },
	{ "ANALYSIS_FILE", 4, LAST, "id:I!* filename:T contentId:I globalPid:I!" },
	{ "ProcessStreams", 0, LAST, "globalPid:I! filenameId:I! contentId:I!" },
	{ "NVTX_PAYLOAD_SCHEMAS", 4, LAST, "domainId:I schemaId:I name:T type:I flags:I numEntries:I payloadSize:I alignTo:I" },
	{ "NVTX_PAYLOAD_SCHEMA_ENTRIES", 4, LAST, "domainId:I! schemaId:I! idx:I! flags:I type:I name:T description:T arrayOrUnionDetail:I offset:I" },
	{ "TARGET_INFO_SYSTEM_ENV", 0, LAST, "globalVid:I devStateName:T! name:T! nameEnum:I! value:T!" },
	{ "TARGET_INFO_SESSION_START_TIME", 0, LAST, "utcEpochNs:I utcTime:T localTime:T systemClockNs:I@4 sessionStartCntVctNs:I@6" },
	{ "ANALYSIS_DETAILS", 0, LAST, "globalVid:I! duration:I! startTime:I! stopTime:I!" },
	{ "TARGET_INFO_GPU", 0, LAST,
	  "vmId:I! id:I! name:T busLocation:T! isDiscrete:I l2CacheSize:I totalMemory:I memoryBandwidth:I clockRate:I smCount:I pwGpuId:I uuid:T luid:I "
	  "chipName:T cuDevice:I ctxswDevPath:T ctrlDevPath:T revision:I nodeMask:I constantMemory:I maxIPC:I maxRegistersPerBlock:I threadsPerWarp:I "
	  "asyncEngines:I maxWarpsPerSm:I maxBlocksPerSm:I maxThreadsPerBlock:I computeMajor:I computeMinor:I" },
	{ "TARGET_INFO_NVTX_CUDA_DEVICE", 0, LAST, "name:T! hwId:I! vmId:I! deviceId:I!" },
	{ "TARGET_INFO_CUDA_NULL_STREAM", 0, 0, "streamId:I! hwId:I! vmId:I! processId:I! deviceId:I! contextId:I!" },
	{ "TARGET_INFO_CUDA_CONTEXT_INFO", 1, LAST, "nullStreamId:I! hwId:I! vmId:I! processId:I! deviceId:I! contextId:I! parentContextId:I isGreenContext:I" },
	{ "TARGET_INFO_CUDA_STREAM", 0, LAST, "streamId:I! hwId:I! vmId:I! processId:I! contextId:I! priority:I! flag:I!" },
	{ "PROCESSES", 0, LAST, "globalPid:I pid:I name:T" },
	{ "DIAGNOSTIC_EVENT", 0, LAST, "timestamp:I! timestampType:I! source:I! severity:I! text:T! globalPid:I" },
	{ "CUPTI_ACTIVITY_KIND_CUDA_EVENT", 0, LAST,
	  "timestamp:I@5 deviceId:I! contextId:I! greenContextId:I@1 streamId:I! correlationId:I globalPid:I eventId:I! eventSyncId:I@5" },
	{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 0, LAST,
	  "start:I! end:I! deviceId:I! contextId:I! greenContextId:I@1 streamId:I! correlationId:I globalPid:I deprecatedSyncType:I@4 syncType:I! eventId:I! "
	  "eventSyncId:I@4" },
	{ "PROFILER_OVERHEAD", 0, LAST, "start:I! end:I! globalTid:I nameId:I! returnValue:I!~3 overheadType:I!@4" },
	{ "CUPTI_ACTIVITY_KIND_OVERHEAD", 4, LAST, "start:I! end:I! eventClass:I! globalTid:I correlationId:I nameId:I overheadType:I!" },
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", 0, LAST, "start:I! end:I! eventClass:I! globalTid:I correlationId:I nameId:I! returnValue:I!=0 callchainId:I" },
	{ "CUPTI_ACTIVITY_KIND_KERNEL", 0, LAST,
	  "start:I! end:I! deviceId:I! contextId:I!=1 greenContextId:I@1 streamId:I! correlationId:I globalPid:I demangledName:I! shortName:I! mangledName:I "
	  "launchType:I=1 cacheConfig:I=1 registersPerThread:I!=32 gridX:I!=108 gridY:I!=1 gridZ:I!=1 blockX:I!=256 blockY:I!=1 blockZ:I!=1 "
	  "staticSharedMemory:I!=0 dynamicSharedMemory:I!=0 localMemoryPerThread:I!=0 localMemoryTotal:I!=0 gridId:I!=7 sharedMemoryExecuted:I=32768 "
	  "graphNodeId:I sharedMemoryLimitConfig:I=0 qmdBulkReleaseDone:I@4 qmdPreexitDone:I@4 qmdLastCtaDone:I@4 graphId:I@4 clusterX:I=1@4 clusterY:I=1@4 "
	  "clusterZ:I=1@4 clusterSchedulingPolicy:I=1@4 maxPotentialClusterSize:I=0@4 maxActiveClusters:I=0@4 sharedMemoryRequestedPercentage:I@4 "
	  "tensorSizeMinusOneElements:T!=[]@5" },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY", 0, LAST,
	  "start:I! end:I! deviceId:I! contextId:I!=1 greenContextId:I@1 streamId:I! correlationId:I globalPid:I bytes:I! copyKind:I! deprecatedSrcId:I "
	  "srcKind:I=2 dstKind:I=2 srcDeviceId:I srcContextId:I dstDeviceId:I dstContextId:I migrationCause:I graphNodeId:I virtualAddress:I copyCount:I=1@4" },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", 0, LAST,
	  "start:I! end:I! deviceId:I! contextId:I!=1 greenContextId:I@1 streamId:I! correlationId:I globalPid:I value:I!=0 bytes:I! graphNodeId:I memKind:I=2" },
	{ "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS", 6, LAST,
	  "start:I! end:I! eventClass:I!=3 deviceId:I! contextId:I!=1 streamId:I! correlationId:I globalPid:I ChannelID:I!=4 sourceBytes:I! "
	  "NumberOfOperations:I!=2" },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH", 6, LAST,
	  "start:I! end:I! deviceId:I! contextId:I!=1 greenContextId:I streamId:I! correlationId:I globalPid:I graphNodeId:I graphId:I" },
	{ "CUDA_HOST_CALLBACK", 6, LAST, "start:I! end:I! eventClass:I!=1 globalTid:I correlationId:I nameId:I" },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 2, LAST,
	  "start:I! end:I! deviceId:I! contextId:I!=1 greenContextId:I streamId:I! correlationId:I globalPid:I graphId:I! graphExecId:I!" },
	{ "CUDA_GRAPH_EVENTS", 0, 1, "start:I! end:I! eventClass:I! globalTid:I nameId:I! graphNodeId:I! originalGraphNodeId:I" },
	{ "CUDA_GRAPH_EVENTS", 2, LAST, "start:I! end:I! eventClass:I! globalTid:I nameId:I! graphId:I originalGraphId:I graphExecId:I" },
	{ "CUDA_GRAPH_NODE_EVENTS", 2, LAST, "start:I! end:I! eventClass:I! globalTid:I nameId:I! graphNodeId:I! originalGraphNodeId:I" },
	{ "NVTX_EVENTS", 0, LAST,
	  "start:I! end:I eventType:I! rangeId:I category:I color:I text:T globalTid:I endGlobalTid:I textId:I domainId:I uint64Value:I int64Value:I "
	  "doubleValue:R uint32Value:I int32Value:I floatValue:R jsonTextId:I jsonText:T binaryData:T@4 eventId:I!*@6" },
	{ "ThreadNames", 0, LAST, "nameId:I! priority:I globalTid:I" },
	{ "SCHED_EVENTS", 0, LAST, "start:I! cpu:I! isSchedIn:I! globalTid:I threadState:I@4 threadBlock:I@4" },
	{ "COMPOSITE_EVENTS", 0, LAST, "id:I!* start:I! cpu:I threadState:I globalTid:I cpuCycles:I!" },
	{ "SAMPLING_CALLCHAINS", 0, LAST, "id:I! symbol:I! module:I! kernelMode:I thumbCode:I unresolved:I specialEntry:I originalIP:I unwindMethod:I stackDepth:I!" },
	{ "OSRT_API", 0, LAST, "start:I! end:I! eventClass:I! globalTid:I nameId:I! returnValue:I! nestingLevel:I callchainId:I!" },
	{ "MPI_P2P_EVENTS", 0, LAST, "start:I! end:I! globalTid:I textId:I commHandle:I tag:I remoteRank:I size:I requestHandle:I" },
	{ "GPU_METRICS", 0, LAST, "rawTimestamp:I timestamp:I typeId:I! metricId:I! value:I!" },
	{ "TARGET_INFO_GPU_METRICS", 0, LAST, "typeId:I! sourceId:I! typeName:T! metricId:I! metricName:T!" },
	{ "CUDA_GPU_MEMORY_USAGE_EVENTS", 0, LAST,
	  "start:I! globalPid:I! deviceId:I! contextId:I! address:I! pc:I! bytes:I! memKind:I! memoryOperationType:I! name:T "
	  "correlationId:I streamId:I@1 localMemoryPoolAddress:I@1 localMemoryPoolReleaseThreshold:I@1 localMemoryPoolSize:I@1 "
	  "localMemoryPoolUtilizedSize:I@1 importedMemoryPoolAddress:I@1 importedMemoryPoolProcessId:I@1" },
	{ "ENUM_CUDA_DEV_MEM_EVENT_OPER", 0, LAST, "id:I!* name:T label:T" },
	{ "ENUM_NSYS_EVENT_TYPE", 0, LAST, "id:I!* name:T label:T" },
	{ "ENUM_CUDA_MEMCPY_OPER", 0, LAST, "id:I!* name:T label:T" },
	{ "ENUM_CUDA_MEM_KIND", 0, LAST, "id:I!* name:T label:T" },
	{ "ENUM_CUDA_KRENEL_LAUNCH_TYPE", 0, 0, "id:I!* name:T label:T" },
	{ "ENUM_CUDA_KERNEL_LAUNCH_TYPE", 1, LAST, "id:I!* name:T label:T" },
	{ "EXPORT_META_DATA", 0, 0, "name:T! value:T" },
	{ "META_DATA_CAPTURE", 1, LAST, "name:T! value:T" },
	{ "META_DATA_EXPORT", 1, LAST, "name:T! value:T" },
	{ NULL, 0, 0, NULL }
};

int
db_version_of(const char *name)
{
	for (int i = 0; db_versions[i]; i++)
		if (strcmp(db_versions[i], name) == 0)
			return i;
	return -1;
}
