// Accepting a regression: which metrics, why, until when. The service keeps the reason for ever.
import { useState } from 'preact/hooks'
import { ask, Problem, runPath, type Acceptance, type Run } from '../api'
import { formatDateTime } from '../format'
import { metricName } from '../words'
import { Dialog, TokenForm } from '../ui'

const brokenMetrics = (run: Run) => [...new Set(run.verdict?.rules.filter((rule) => rule.outcome === 'fail' || rule.outcome === 'warn').map((rule) => rule.metric) ?? [])]

export function AcceptDialog({ run, onClose, onDone }: { run: Run; onClose: () => void; onDone: () => void }) {
  const broken = brokenMetrics(run)
  const [metrics, setMetrics] = useState(broken)
  const [reason, setReason] = useState('')
  const [author, setAuthor] = useState('')
  const [until, setUntil] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const body = { metrics: broken.length > 0 ? metrics : 'all', reason: reason.trim(), ...(until && { until }), ...(author.trim() && { author: author.trim() }) }
    try {
      await ask(`${runPath(run.project, run.id)}/accept`, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } })
      onDone()
    } catch (error) {
      setProblem(error as Problem)
      setBusy(false)
    }
  }
  const toggle = (metric: string) => setMetrics(metrics.includes(metric) ? metrics.filter((other) => other !== metric) : [...metrics, metric])
  return (
    <Dialog title="Accept this run" onClose={onClose}>
      <form class="form" onSubmit={submit}>
        <p>From this run on, the new level is the baseline, and the alarm is not raised again. It can be undone.</p>
        {broken.length > 0 && (
          <fieldset>
            <legend>Metrics</legend>
            {broken.map((metric) => <label class="check"><input type="checkbox" checked={metrics.includes(metric)} onChange={() => toggle(metric)} /> {metricName(metric)}</label>)}
          </fieldset>
        )}
        <label>Reason<textarea required maxLength={1000} rows={3} value={reason} placeholder="For example: larger model, agreed in the review" onInput={(event) => setReason(event.currentTarget.value)} /></label>
        <div class="form-row">
          <label>Your name <span class="muted">(optional)</span><input maxLength={200} autocomplete="name" value={author} onInput={(event) => setAuthor(event.currentTarget.value)} /></label>
          <label>Until <span class="muted">(optional)</span><input type="date" value={until} onInput={(event) => setUntil(event.currentTarget.value)} /></label>
        </div>
        {problem && <p class="form-problem" role="alert">{problem.status === 401 || problem.status === 403 ? 'Accepting needs a token with the scope admin; enter it below.' : problem.detail || problem.title}</p>}
        <div class="form-end">
          <button type="button" class="button" onClick={onClose}>Cancel</button>
          <button class="button primary" disabled={busy || reason.trim() === '' || (broken.length > 0 && metrics.length === 0)}>Accept</button>
        </div>
      </form>
      {problem && (problem.status === 401 || problem.status === 403) && <TokenForm beside onDone={() => setProblem(null)} />}
    </Dialog>
  )
}

export function Acceptances({ run, onDone }: { run: Run; onDone: () => void }) {
  const [problem, setProblem] = useState('')
  const all = run.acceptances ?? []
  const list = all.filter((item) => !item.undone_at)
  const past = all.filter((item) => item.undone_at)
  const history = past.map((item) => <p class="hint past">Accepted by {item.author || 'an administrator'} (“{item.reason}”), and undone on {formatDateTime(Date.parse(item.undone_at!))}{item.undone_by ? ` by ${item.undone_by}` : ''}.</p>)
  if (list.length === 0) return <>{history}</>
  const undo = () => ask(`${runPath(run.project, run.id)}/accept`, { method: 'DELETE' }).then(onDone, (error: Error) => setProblem(error.message))
  const what = (item: Acceptance) => (item.metrics === 'all' ? 'All metrics' : item.metrics.map(metricName).join(', '))
  return (
    <div class="notice accepted" role="note">
      {list.map((item) => (
        <p><strong>Accepted</strong> by {item.author || 'an administrator'} on {formatDateTime(Date.parse(item.created_at))}: “{item.reason}” <span class="muted">{what(item)}{item.until ? `, until ${formatDateTime(Date.parse(item.until))}` : ''}</span></p>
      ))}
      <button type="button" class="button small" onClick={undo}>Undo</button>
      {problem && <p role="alert" class="form-problem">{problem}</p>}
      {history}
    </div>
  )
}
