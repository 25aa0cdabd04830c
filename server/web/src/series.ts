// A metric over commits, in columns: ten thousand points cost no ten thousand objects. Made by the worker.
import { authorization, onToken, Problem, unreachable, type Better, type Outcome, type Rule } from './api'

export interface ChangePoint {
  run: string; commit: string; previous_commit?: string | null; environment?: string; before: number; after: number
  magnitude?: number; p?: number; better?: boolean | null; accepted?: boolean
}
export interface Segment {
  environment: string; first_run: string; first_commit?: string; last_run: string; last_commit?: string; runs: number; level: number; noise: number; began: string
}

/// Texts of the points, one after the other; they are taken apart when somebody asks for one.
export interface Texts { run: string; commit: string; subject: string; author: string }

export interface Columns {
  metric: string; unit: string; better: Better; count: number
  value: Float64Array; level: Float64Array; low: Float64Array; high: Float64Array // NaN: nothing was judged
  committed: Float64Array; uploaded: Float64Array // ms; NaN: unknown
  outcome: Uint8Array // index into outcomeWords
  flags: Uint8Array
  environment: Uint16Array; environments: string[]
  texts: Texts
  changePoints: ChangePoint[]; segments: Segment[]
}

export const outcomeWords = [null, 'pass', 'warn', 'inconclusive', 'fail'] as const
/// What a point is drawn as: the run's outcome, or that this metric held where the run as a whole did not pass.
export type Mark = Outcome | 'held'

/// What the newest verdict's policy lets a metric do: a limit, and how far it may stand from its level. Units: of the metric.
export interface Policy { limit: number | null; margin: number }
const silent: Policy = { limit: null, margin: 0 }

export function policyOf(rules: readonly Rule[], metric: string): Policy {
  const own = rules.filter((rule) => rule.metric === metric)
  const margins = own.flatMap((rule) => (rule.fails_at != null && rule.baseline ? [Math.abs(rule.fails_at - (rule.baseline.level ?? rule.baseline.median))] : []))
  return { limit: own.find((rule) => rule.limit !== null)?.limit ?? null, margin: margins.length > 0 ? Math.min(...margins) : 0 }
}
export const flag = { superseded: 1, accepted: 2, inBaseline: 4 } as const
export const separator = '\u0001'

export interface Answer { id: number; columns?: Columns; problem?: { status: number; type: string; title: string; detail: string } }
export interface Question { id: number; url: string; headers: Record<string, string> }

declare const WORKER_PATH: string

let worker: Worker | null = null
let last = 0
const waiting = new Map<number, { resolve: (series: Series) => void; reject: (error: Problem) => void }>()
const cache = new Map<string, Promise<Series>>()
onToken(() => cache.clear())

function startWorker(): Worker {
  const made = new Worker(WORKER_PATH, { type: 'module' })
  made.onmessage = (event: MessageEvent<Answer>) => {
    const { id, columns, problem } = event.data
    const asker = waiting.get(id)
    waiting.delete(id)
    if (columns) asker?.resolve(new Series(columns))
    else asker?.reject(problem ? new Problem(problem.status, problem.type, problem.title, problem.detail) : unreachable())
  }
  made.onerror = () => {
    waiting.forEach((asker) => asker.reject(unreachable()))
    waiting.clear()
  }
  return made
}

/// Fetched and taken apart beside the page, so that it stays fluent; kept while the page is open.
export function getSeries(url: string): Promise<Series> {
  const known = cache.get(url)
  if (known) return known
  worker ??= startWorker()
  const id = ++last
  const question: Question = { id, url, headers: authorization() }
  const promise = new Promise<Series>((resolve, reject) => waiting.set(id, { resolve, reject }))
  worker.postMessage(question)
  cache.set(url, promise)
  promise.catch(() => cache.delete(url))
  return promise
}

export class Series {
  private readonly split: Partial<Record<keyof Texts, string[]>> = {}
  constructor(readonly columns: Columns) {}

  get count() {
    return this.columns.count
  }

  text(key: keyof Texts, index: number): string {
    const list = (this.split[key] ??= this.columns.texts[key].split(separator))
    return list[index] ?? ''
  }

  indexOfRun(run: string): number {
    const list = (this.split.run ??= this.columns.texts.run.split(separator))
    return list.indexOf(run)
  }

  /// When the commit was made, or, where nobody told, when its trace came.
  time(index: number): number {
    const committed = this.columns.committed[index]!
    return Number.isFinite(committed) ? committed : this.columns.uploaded[index]!
  }

  /// How this metric itself did in a run, which the run's outcome does not tell: another metric may have broken it.
  /// `held`: inside the band of its baseline or what the policy tolerates, or better, and not over the limit.
  /// Where nothing is known of a baseline the run's outcome stands.
  markAt(index: number, policy: Policy = silent): Mark | null {
    const { better, value, level, low, high, outcome } = this.columns
    const word = outcomeWords[outcome[index]!] ?? null
    if (word === null || word === 'pass' || better === 'none') return word
    const worse = (bound: number) => (better === 'higher' ? value[index]! < bound : value[index]! > bound)
    const edge = better === 'higher' ? Math.min(low[index]!, level[index]! - policy.margin) : Math.max(high[index]!, level[index]! + policy.margin)
    return Number.isFinite(edge) && !worse(edge) && !(policy.limit !== null && worse(policy.limit)) ? 'held' : word
  }

  /// A value's difference to its level, judged: nothing inside the band is worse or improved, nothing that held is worse.
  toneAt(index: number, policy: Policy = silent): 'worse' | 'improved' | 'neutral' {
    const { better, value, low, high } = this.columns
    const mark = this.markAt(index, policy)
    const [below, above] = [value[index]! < low[index]!, value[index]! > high[index]!]
    if (better === 'none' || (!below && !above)) return 'neutral'
    if (below !== (better === 'higher')) return 'improved'
    return mark === 'pass' || mark === 'held' ? 'neutral' : 'worse'
  }

  has(index: number, bit: number): boolean {
    return (this.columns.flags[index]! & bit) !== 0
  }
}
