// The service's answers, and how they are asked for. The token stays in this tab and goes into one header only.

export type Outcome = 'pass' | 'warn' | 'inconclusive' | 'fail'
export type Better = 'higher' | 'lower' | 'none'

export interface Baseline { runs: number; median: number; level?: number; noise: number; first: string; last: string; commit: string; segments?: number }
export interface Rule {
  metric: string; against: string | null; outcome: Outcome | null; reason: string; observed: number | null; unit: string; better: Better
  limit: number | null; limit_text?: string; tolerance: string | null; baseline: Baseline | null; delta: number | null; delta_ratio: number | null
  level: string; detectable: number | null; fails_at?: number | null; confirm: { have: number; want: number }; sentence: string; next: string
}
export interface Contribution { cause: string; name: string; phase?: string | null; delta: number }
export interface Explanation { metric: string; unit: string; against_run?: string; base?: number; head?: number; delta: number; sentence?: string; contributions: Contribution[] }
export interface Change { sentence: string; reasons: string[] }
export interface Cost { gpus: number; gpu_hour: number; idle_per_hour: number; exposed_per_hour: number; delta_per_hour: number | null; sentence: string }
export interface Told { facts?: string[]; workload_changed?: Change | null; cost?: Cost | null }
export interface Verdict extends Told {
  outcome: Outcome; learning?: boolean; mode: string; summary: string; rules: Rule[]; ancestry: string; notes: string[]
  policy_source: string; policy_sha256: string; baseline_runs: string[]; explanations?: Explanation[]
}
export interface Acceptance { id: string; run: string; commit: string; workload?: string; metrics: string[] | 'all'; reason: string; author: string; created_at: string; until: string | null; undone_at?: string | null; undone_by?: string }
export interface Failure { type: string; detail: string }
/// Whether the raw trace of an upload is kept; if not, when and by which limit it went.
export interface TraceState { rank: number; bytes: number; sha256: string; kept: boolean; kept_until: string | null; removed_at: string | null; removed_why: string | null }
export interface Run {
  id: string; project: string; workload: string; commit: string; branch: string | null; base_branch: string | null; head: string | null; base: string | null
  pr: number | null; fork: boolean; attempt: number; job: string | null; matrix: string | null; job_url: string | null; uploaded_at: string
  environment: Record<string, string>; status: string; superseded: boolean; warnings: string[]; error: Failure | null
  ranks: { expected: number | null; received: number[]; missing: number[]; rejected: { rank: number; error: Failure }[] } | null
  verdict: Verdict | null; report?: Report | null; acceptances?: Acceptance[]; traces?: TraceState[]; links: { self: string; html: string }
}

export interface Measurement { metric: string; value: number | null; unit: string; better: Better; not_measured?: string; min?: number; max?: number; min_rank?: number; max_rank?: number }
export interface Term { term: string; cause?: string; phase?: string | null; name?: string; kind?: string; bytes?: number | null; direction?: string; ns: number }
export interface Device { device: number; gpu: string; compute_ns: number; graph_ns: number; exposed_comm_ns: number; exposed_memory_ns: number; idle_ns: number; idle_causes_ns: Record<string, number> }
export interface Finding { code: string; severity: string; count: number; evidence: Record<string, unknown>; advice: string; device?: number | null }
export interface Collective { kind: string; bytes: number | null; count: number; total_ns: number; min_ns: number; max_ns: number; group_size?: number | null; dtype?: string | null }
export interface Step { index: number; name: string; length_ns: number; values: Record<string, number | null> }
export interface Rank {
  rank: number; world_size: number
  trace: { format: string; compression: string; bytes: number; sha256: string | null; producer: string | null; name: string | null }
  environment: Record<string, unknown>
  window: { kind: string; start_ns: number; length_ns: number; steps: number | null; skipped_steps: number | null } | null
  devices: Device[]; measurements: Measurement[]; breakdown: Term[]; steps: Step[]
  kernels: { name: string; kind?: string; count: number; total_ns: number; share: number }[]
  collectives: Collective[]; phases: { name: string; count: number; host_ns: number; gpu_ns: number }[]; findings: Finding[]
}
export interface Report { schema: string; analyzer: { version: string; classifier: number }; ranks: Rank[]; run: { measurements: Measurement[]; findings: Finding[] } }

export interface Project { name: string; mode: string; policy_source: string; read_access: string; created_at: string }
export interface Side { run: string; commit: string; workload?: string; branch?: string | null; environment?: Record<string, string> }
export interface Diff extends Told {
  summary: string; environment: { key: string; base: unknown; head: unknown }[]
  metrics: { metric: string; unit: string; better?: Better; base: number | null; head: number | null; delta: number | null }[]
  explanations: Explanation[]; base?: Side; head?: Side
}

/// What went wrong, as the service says it (RFC 9457).
export class Problem extends Error {
  constructor(readonly status: number, readonly type: string, readonly title: string, readonly detail: string) {
    super(detail || title)
  }
}

const tokenKey = 'traceweir-token'
const listeners = new Set<() => void>()

export const token = (): string | null => sessionStorage.getItem(tokenKey)

export function setToken(value: string | null) {
  if (value) sessionStorage.setItem(tokenKey, value)
  else sessionStorage.removeItem(tokenKey)
  listeners.forEach((listener) => listener())
}

export function onToken(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const authorization = (): Record<string, string> => {
  const value = token()
  return value ? { Authorization: `Bearer ${value}` } : {}
}

export function problemOf(status: number, text: string): Problem {
  try {
    const json = JSON.parse(text) as { type?: string; title?: string; detail?: string }
    return new Problem(status, json.type ?? 'unknown', json.title ?? `HTTP ${status}`, json.detail ?? '')
  } catch {
    return new Problem(status, 'unknown', `HTTP ${status}`, text.slice(0, 300))
  }
}

export const unreachable = () =>
  new Problem(0, 'unreachable', 'The service does not answer', 'Is it running, and is there a network between it and this browser?')

export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(path, { ...options, headers: { ...authorization(), ...(options.headers as Record<string, string>) } })
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw unreachable()
  }
  if (!answer.ok) throw problemOf(answer.status, await answer.text())
  return answer
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask(path, { signal: signal ?? null })).json() as Promise<T>
}

export const projectPath = (project: string) => `/api/v1/projects/${encodeURIComponent(project)}`
export const runPath = (project: string, run: string) => `${projectPath(project)}/runs/${encodeURIComponent(run)}`

export function queryText(values: Record<string, string | number | null | undefined>): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(values)) if (value !== null && value !== undefined && value !== '') query.set(key, String(value))
  const text = query.toString()
  return text ? `?${text}` : ''
}

export interface RunPage { runs: Run[]; next: string | null }
export const getRuns = (project: string, filter: Record<string, string | number | null | undefined>, signal?: AbortSignal) =>
  get<RunPage>(`${projectPath(project)}/runs${queryText(filter)}`, signal)

/// Hands a file to the person: fetched with the token, which a plain link could not send.
export async function download(path: string, name: string, headers: Record<string, string> = {}) {
  saveBlob(await (await ask(path, { headers })).blob(), name)
}

export function saveBlob(blob: Blob, name: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
