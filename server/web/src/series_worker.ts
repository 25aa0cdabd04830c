// Runs beside the page: fetches a history, parses it and lays it out in columns, which are handed over without a copy.
import { flag, outcomeWords, separator, type Answer, type ChangePoint, type Columns, type Question, type Segment, type Texts } from './series'
import type { Better } from './api'

interface Point {
  run: string; commit: string; subject?: string; author?: string; committed_at: string | null; uploaded_at: string; value: number; outcome: string | null
  environment: string; superseded?: boolean; accepted?: boolean; in_baseline?: boolean; band?: { level: number; low: number; high: number } | null
}
interface History { metric: string; unit: string; better: Better; points: Point[]; change_points?: ChangePoint[]; segments?: Segment[] }

const time = (text: string | null | undefined) => (text ? Date.parse(text) : NaN)
const joined = (points: Point[], key: keyof Texts) => points.map((point) => (point[key] ?? '').split(separator).join(' ')).join(separator)

function fill(columns: Columns, points: Point[]) {
  const known = new Map<string, number>()
  points.forEach((point, i) => {
    columns.value[i] = point.value
    columns.level[i] = point.band?.level ?? NaN
    columns.low[i] = point.band?.low ?? NaN
    columns.high[i] = point.band?.high ?? NaN
    columns.committed[i] = time(point.committed_at)
    columns.uploaded[i] = time(point.uploaded_at)
    columns.outcome[i] = Math.max(0, outcomeWords.indexOf(point.outcome as never))
    columns.flags[i] = (point.superseded ? flag.superseded : 0) | (point.accepted ? flag.accepted : 0) | (point.in_baseline ? flag.inBaseline : 0)
    let at = known.get(point.environment)
    if (at === undefined) known.set(point.environment, (at = known.size))
    columns.environment[i] = at
  })
  columns.environments = [...known.keys()]
}

function columnsOf(history: History): Columns {
  const { points } = history
  const numbers = () => new Float64Array(points.length)
  const columns: Columns = {
    metric: history.metric, unit: history.unit, better: history.better, count: points.length,
    value: numbers(), level: numbers(), low: numbers(), high: numbers(), committed: numbers(), uploaded: numbers(),
    outcome: new Uint8Array(points.length), flags: new Uint8Array(points.length), environment: new Uint16Array(points.length), environments: [],
    texts: { run: joined(points, 'run'), commit: joined(points, 'commit'), subject: joined(points, 'subject'), author: joined(points, 'author') },
    changePoints: history.change_points ?? [], segments: history.segments ?? [],
  }
  fill(columns, points)
  return columns
}

async function answerTo(question: Question): Promise<Answer> {
  try {
    const answer = await fetch(question.url, { headers: question.headers })
    const text = await answer.text()
    if (answer.ok) return { id: question.id, columns: columnsOf(JSON.parse(text) as History) }
    const { type = 'unknown', title = `HTTP ${answer.status}`, detail = '' } = JSON.parse(text) as Record<string, string>
    return { id: question.id, problem: { status: answer.status, type, title, detail } }
  } catch (error) {
    return { id: question.id, problem: { status: 0, type: 'unreachable', title: 'The service does not answer', detail: String(error) } }
  }
}

addEventListener('message', async (event: MessageEvent<Question>) => {
  const answer = await answerTo(event.data)
  const { columns } = answer
  const transfer = columns ? [columns.value, columns.level, columns.low, columns.high, columns.committed, columns.uploaded, columns.outcome, columns.flags, columns.environment].map((list) => list.buffer) : []
  ;(postMessage as (message: Answer, transfer: ArrayBufferLike[]) => void)(answer, transfer)
})
