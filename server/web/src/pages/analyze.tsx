// A trace looked at without being stored: dropped here, sent once, shown, and gone.
import { useRef, useState } from 'preact/hooks'
import { authorization, Problem, problemOf, queryText, unreachable, type Report } from '../api'
import { formatBytes } from '../format'
import { ReportSections } from '../report'
import { metricName } from '../words'
import { formatValue } from '../format'
import { ProblemBox } from '../ui'

/// XMLHttpRequest, since only it tells how far an upload is.
function send(file: File, onProgress: (share: number) => void): { done: Promise<Report>; stop: () => void } {
  const request = new XMLHttpRequest()
  const done = new Promise<Report>((resolve, reject) => {
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total)
    request.onload = () => (request.status === 200 ? resolve(JSON.parse(request.responseText) as Report) : reject(problemOf(request.status, request.responseText)))
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(new Problem(0, 'stopped', 'Stopped', 'The upload was stopped.'))
  })
  request.open('POST', `/api/v1/analyze${queryText({ name: file.name.slice(0, 200) })}`)
  for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value)
  request.send(file)
  return { done, stop: () => request.abort() }
}

type State = { kind: 'waiting' } | { kind: 'sending'; name: string; share: number; stop: () => void } | { kind: 'done'; name: string; report: Report } | { kind: 'failed'; problem: Problem }

const headline = ['gpu.utilization', 'gpu.idle', 'step.time_p50', 'comm.exposed_per_step', 'gpu.exposed_memory']

function Headline({ report }: { report: Report }) {
  const found = headline.flatMap((metric) => report.run.measurements.filter((row) => row.metric === metric && row.value !== null))
  return <div class="tiles">{found.map((row) => <div class="tile"><span class="tile-value">{formatValue(row.value, row.unit)}</span><span class="tile-name">{metricName(row.metric)}</span></div>)}</div>
}

export function AnalyzePage() {
  const [state, setState] = useState<State>({ kind: 'waiting' })
  const [over, setOver] = useState(false)
  const [rank, setRank] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const take = (file: File | undefined) => {
    if (!file) return
    const { done, stop } = send(file, (share) => setState((now) => (now.kind === 'sending' ? { ...now, share } : now)))
    setState({ kind: 'sending', name: file.name, share: 0, stop })
    done.then((report) => {
      setRank(report.ranks[0]?.rank ?? 0)
      setState({ kind: 'done', name: file.name, report })
    }, (error: unknown) => setState({ kind: 'failed', problem: error as Problem }))
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    take(event.dataTransfer?.files[0])
  }
  return (
    <>
      <div class="page-head"><h1>Look at a trace</h1></div>
      <div class={`drop${over ? ' over' : ''}`} onDragOver={(event) => { event.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
        {state.kind === 'sending' ? (
          <>
            <p class="empty-title">{state.share < 1 ? `Sending ${state.name}` : `Analysing ${state.name}`}</p>
            <progress max={1} value={state.share < 1 ? state.share : undefined} aria-label="Upload" />
            <button type="button" class="button" onClick={state.stop}>Stop</button>
          </>
        ) : (
          <>
            <p class="empty-title">Drop a trace here</p>
            <p class="muted">torch.profiler (Kineto JSON) or Nsight Systems (SQLite export), plain, gzip or zstd. It is analysed by the service and not stored.</p>
            <button type="button" class="button primary" onClick={() => input.current?.click()}>Choose a file</button>
          </>
        )}
        <input ref={input} type="file" class="visually-hidden" tabIndex={-1} aria-label="Trace file" onChange={(event) => { take(event.currentTarget.files?.[0]); event.currentTarget.value = '' }} />
      </div>
      <div aria-live="polite">
        {state.kind === 'failed' && <ProblemBox problem={state.problem} what="trace" />}
        {state.kind === 'done' && <p class="done-line"><strong>{state.name}</strong>, {formatBytes(state.report.ranks[0]?.trace.bytes ?? 0)}: nothing of it was kept.</p>}
      </div>
      {state.kind === 'done' && <><Headline report={state.report} /><ReportSections report={state.report} rank={rank} onRank={setRank} /></>}
    </>
  )
}
