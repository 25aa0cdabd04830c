// What the words of the API are called on a page, and how they look. Tables, not switches.
import type { Better, Outcome } from './api'

export const outcomes: readonly Outcome[] = ['pass', 'warn', 'inconclusive', 'fail']
export const outcomeNames: Record<Outcome, string> = { pass: 'Pass', warn: 'Warning', inconclusive: 'Inconclusive', fail: 'Fail' }

const reasons: Record<string, string> = {
  within: 'within tolerance',
  better: 'better than the baseline',
  worse_within_noise: 'worse, but within the noise',
  accepted: 'worse, and accepted',
  over_limit: 'over its limit',
  worse: 'worse than the baseline',
  not_applicable: 'not measured here, not asked for',
  short_baseline: 'baseline still being built',
  no_baseline: 'no baseline yet',
  new_environment: 'first runs in this environment',
  not_measured: 'not measured',
  metric_missing: 'the baseline has it, this run has not',
  not_comparable: 'no comparable baseline',
  data_loss: 'the trace lost data',
  missing_rank: 'a rank is missing',
  untrusted_data: 'the data cannot be trusted',
  needs_confirmation: 'needs another run to confirm',
}
export const reasonName = (word: string) => reasons[word] ?? word.replace(/_/g, ' ')

const missing: Record<string, string> = {
  no_steps: 'no steps are marked',
  few_steps: 'too few steps',
  no_comm: 'no communication',
  no_copies: 'no copies',
  no_sizes: 'no message sizes in the trace',
  unknown_memory_kind: 'kind of memory unknown',
  graph_opaque: 'CUDA graphs traced as a whole',
  no_host_calls: 'no host calls in the trace',
  no_gpu_work: 'no GPU work',
  single_rank: 'needs several ranks',
  no_such_table: 'not in this trace',
  untrusted_data: 'the data cannot be trusted',
  ranks_apart: 'ranks were analysed apart',
}
export const missingName = (word: string) => missing[word] ?? word.replace(/_/g, ' ')

/// What a GPU was doing, or what its idle time waited for: name and colour (a class of app.css).
export interface Part {
  id: string
  name: string
}
export const busyParts: readonly Part[] = [
  { id: 'compute', name: 'Compute' },
  { id: 'graph', name: 'CUDA graphs' },
  { id: 'comm', name: 'Exposed communication' },
  { id: 'memory', name: 'Exposed copies' },
]
export const idleParts: readonly Part[] = [
  { id: 'input', name: 'Idle: waiting for input' },
  { id: 'sync', name: 'Idle: host blocked in a synchronisation' },
  { id: 'launch', name: 'Idle: host busy elsewhere, or launching' },
  { id: 'dependency', name: 'Idle: waiting for other work' },
  { id: 'unknown', name: 'Idle: cause unknown' },
]

const causes: Record<string, readonly [string, string]> = {
  'idle.input': ['Idle, waiting for input', 'input'],
  'idle.sync': ['Idle, host blocked in a synchronisation', 'sync'],
  'idle.launch': ['Idle, host busy elsewhere', 'launch'],
  'idle.dependency': ['Idle, waiting for other work', 'dependency'],
  'idle.unknown': ['Idle, cause unknown', 'unknown'],
  compute: ['Compute', 'compute'],
  exposed_comm: ['Exposed communication', 'comm'],
  exposed_memory: ['Exposed copies', 'memory'],
  graph: ['CUDA graphs', 'graph'],
  size_slower: ['Slower calls', 'comm'],
  size_mix: ['Different mix of message sizes', 'comm'],
  transfer: ['Transfer took longer', 'comm'],
  wait: ['Waiting for other ranks', 'sync'],
  distribution: ['Spread over the steps', 'unknown'],
  other: ['Everything else', 'unknown'],
}
/// `delta`: the cause's part of a time or share that rose or fell.
export const causeName = (word: string, delta = 1) => (word === 'size_slower' && delta < 0 ? 'Faster calls' : word === 'transfer' && delta < 0 ? 'Transfer was shorter' : causes[word]?.[0] ?? word)
export const causePart = (word: string) => causes[word]?.[1] ?? 'unknown'

const metricNames: Record<string, string> = {
  'gpu.utilization': 'GPU utilization',
  'gpu.compute': 'GPU computing',
  'gpu.idle': 'GPU idle',
  'gpu.exposed_comm': 'Exposed communication',
  'gpu.exposed_memory': 'Exposed copies',
  'comm.share': 'Communication share',
  'comm.overlap': 'Communication overlapped',
  'comm.exposed_per_step': 'Exposed communication per step',
  'allreduce.time_mean': 'All-reduce, mean time',
  'step.time_p50': 'Step time, median',
  'step.time_p95': 'Step time, 95th percentile',
  'step.time_mean': 'Step time, mean',
}
export const metricName = (id: string) => metricNames[id] ?? id.replace(/^custom\./, '')

export const betterName: Record<Better, string> = { higher: 'higher is better', lower: 'lower is better', none: 'neither side is better' }

/// Whether a change is to the worse: true, false, or null where neither side is.
export const isWorse = (delta: number, better: Better | undefined) =>
  delta === 0 || !better || better === 'none' ? null : better === 'higher' ? delta < 0 : delta > 0
