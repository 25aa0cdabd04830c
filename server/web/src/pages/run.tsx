// One run: the verdict in words, why, and where the time went.
import { useState } from 'preact/hooks'
import { download, get, projectPath, queryText, runPath, token, type Better, type Run, type Rule } from '../api'
import { formatAgo, formatDateTime, formatDelta, formatRelative, formatValue, plural, shortSha } from '../format'
import { useLoad } from '../load'
import { openInPerfetto, perfettoReads } from '../perfetto'
import { ReportSections } from '../report'
import { compareHref, projectHref, runHref, setQuery, usePlace } from '../router'
import { isWorse, metricName, reasonName } from '../words'
import { getSeries } from '../series'
import { CopyButton, Loading, OutcomeBadge, ProblemBox, RunBadge, Section, Sentence, Table } from '../ui'
import { AcceptDialog, Acceptances } from './accept'
import { baselineRun } from './runs'
import { WhySection } from './told'

/// Only what the rule itself found: a change inside its tolerance is neither.
const judged = new Set(['worse', 'worse_within_noise', 'accepted', 'needs_confirmation', 'over_limit', 'better'])
const tone = (rule: Rule) => {
  const worse = rule.delta === null || !judged.has(rule.reason) ? null : isWorse(rule.delta, rule.better)
  if (worse && rule.outcome === 'pass' && rule.reason !== 'accepted') return 'neutral'
  return worse === null ? 'neutral' : worse ? 'worse' : 'improved'
}

const levelOf = (rule: Rule) => rule.baseline && (rule.baseline.level ?? rule.baseline.median)

/// Of a rule that holds the columns say all; of others what it means and what to do.
function RuleSays({ rule, project }: { rule: Rule; project: string }) {
  const plain = rule.outcome === 'pass' && rule.delta !== null
  return <>{rule.sentence && !plain && <p class="rule-sentence">{rule.sentence}</p>}{rule.next && <p class="rule-next"><Sentence text={rule.next} project={project} /></p>}</>
}

function Rules({ rules, project }: { rules: readonly Rule[]; project: string }) {
  const weight = (rule: Rule) => ['fail', 'inconclusive', 'warn', 'pass', null].indexOf(rule.outcome)
  const sorted = [...rules].sort((a, b) => weight(a) - weight(b))
  return (
    <Table<Rule> caption="Rules of the policy" rows={sorted} most={20} stack columns={[
      { head: 'Outcome', cell: (rule) => rule.outcome ? <OutcomeBadge outcome={rule.outcome} /> : <span class="badge none">Not judged</span> },
      { head: 'Metric', cell: (rule) => <><strong>{metricName(rule.metric)}</strong><br /><span class="muted">{reasonName(rule.reason)}{rule.against && ` · against ${rule.against}`}</span></> },
      { head: 'This run', number: true, cell: (rule) => formatValue(rule.observed, rule.unit) },
      { head: 'Baseline', number: true, cell: (rule) => rule.baseline ? <>{formatValue(levelOf(rule), rule.unit)}<br /><span class="muted">{plural(rule.baseline.runs, 'run')}</span></> : '–' },
      { head: 'Change', number: true, cell: (rule) => <span class={`delta ${tone(rule)}`}>{formatDelta(rule.delta, rule.unit)}{rule.unit !== 'ratio' && rule.delta_ratio !== null && <><br />{formatRelative(rule.delta_ratio)}</>}</span> },
      { head: 'Allowed', number: true, cell: (rule) => <>{rule.tolerance ?? ''}{rule.limit !== null && <><br />limit {rule.limit_text ?? formatValue(rule.limit, rule.unit)}</>}</> },
      { head: <span title="The smallest worsening that this baseline would find with 80 % probability">Can see</span>, label: 'Can see', number: true, cell: (rule) => formatDelta(rule.detectable, rule.unit).replace(/^[+−±]/, '') },
      { head: 'What to do', class: 'says', cell: (rule) => <RuleSays rule={rule} project={project} /> },
    ]} />
  )
}

function TraceActions({ run }: { run: Run }) {
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState('')
  const traces = run.report?.ranks ?? []
  const uploads = run.ranks?.received ?? [0]
  const act = (what: string, action: () => Promise<void>) => () => {
    setBusy(what)
    setProblem('')
    action().catch((error: Error) => setProblem(error.message)).finally(() => setBusy(''))
  }
  const path = (rank: number) => `${runPath(run.project, run.id)}/traces/${rank}`
  const several = uploads.length > 1
  const traceOf = (rank: number) => (several ? traces.find((item) => item.rank === rank) : traces[0])?.trace
  const nameOf = (rank: number) => traceOf(rank)?.name ?? `${run.id}.rank${rank}.trace`
  const kind = several ? 'button small' : 'button'
  const buttons = (rank: number) => {
    const trace = traceOf(rank)
    const gone = run.traces?.find((item) => item.rank === rank && !item.kept)
    if (gone) return <span class="muted" title={gone.removed_why ?? ''}>Trace removed {formatDateTime(Date.parse(gone.removed_at ?? ''))}</span>
    const of = several ? ` of rank ${rank}` : ''
    const [loading, opening] = [busy === `download ${rank}`, busy === `perfetto ${rank}`]
    const saving = several ? 'Download' : 'Download trace'
    return (
      <>
        {token() === null
          ? <a class={kind} href={path(rank)} download aria-label={several ? `Download trace${of}` : undefined}>{saving}</a>
          : <button type="button" class={kind} disabled={busy !== ''} aria-label={several ? `Download trace${of}` : undefined} onClick={act(`download ${rank}`, () => download(path(rank), nameOf(rank)))}>{loading ? 'Loading…' : saving}</button>}
        {trace && perfettoReads(trace.format, trace.compression) && (
          <button type="button" class={kind} disabled={busy !== ''} aria-label={several ? `Open in Perfetto: rank ${rank}` : undefined} onClick={act(`perfetto ${rank}`, () => openInPerfetto(path(rank), `${run.project} ${shortSha(run.commit)} rank ${rank}`))}>{opening ? 'Opening…' : 'Open in Perfetto'}</button>
        )}
      </>
    )
  }
  return (
    <>
      {!several ? uploads.map(buttons) : (
        <details class="menu">
          <summary class="button">Traces of {uploads.length} ranks</summary>
          <ul>{uploads.map((rank) => <li><span class="muted">rank {rank}</span>{buttons(rank)}</li>)}</ul>
        </details>
      )}
      {problem && <span class="form-problem" role="alert">{problem}</span>}
    </>
  )
}

const isWeb = (url: string) => /^https?:\/\//i.test(url)

/// Where among a branch's newest points a run is looked for.
const subjectPoints = 200

/// What the commit says of itself: told by the history, where somebody sent it.
function useSubject(run: Run): { subject: string; author: string } | null {
  const metric = run.verdict?.rules.find((rule) => rule.observed !== null)?.metric
  const path = metric && run.branch ? `${projectPath(run.project)}/history${queryText({ metric, branch: run.branch, workload: run.workload, limit: subjectPoints })}` : null
  const series = useLoad(path, () => getSeries(path!)).value
  const at = series ? series.indexOfRun(run.id) : -1
  return series && at >= 0 && series.text('subject', at) ? { subject: series.text('subject', at), author: series.text('author', at) } : null
}

function Facts({ run }: { run: Run }) {
  const said = useSubject(run)
  const rows: [string, preact.ComponentChildren][] = [
    ['Commit', <><code>{shortSha(run.commit)}</code> <CopyButton text={run.commit} what="the commit's id" />{said && <><br />{said.subject}{said.author && <span class="muted"> · {said.author}</span>}</>}</>],
    ['Branch', <>{run.branch ?? 'not stated'}{run.pr !== null && ` · pull request ${run.pr}`}{run.fork && ' · from a fork'}</>],
    ['Workload', run.workload],
    ['Uploaded', <time dateTime={run.uploaded_at} title={formatDateTime(Date.parse(run.uploaded_at))}>{formatAgo(Date.parse(run.uploaded_at))}</time>],
  ]
  if (run.job) rows.push(['Job', run.job_url && isWeb(run.job_url) ? <a href={run.job_url} rel="noreferrer noopener" target="_blank">{run.job}</a> : run.job])
  if (run.attempt > 1) rows.push(['Attempt', String(run.attempt)])
  if (run.ranks) rows.push(['Ranks', `${run.ranks.received.length}${run.ranks.expected === null ? '' : ` of ${run.ranks.expected}`}${run.ranks.missing.length ? `, missing ${run.ranks.missing.join(', ')}` : ''}`])
  for (const [key, value] of Object.entries(run.environment)) rows.push([key, value])
  return <dl class="facts inline">{rows.map(([key, value]) => <div><dt>{key}</dt><dd>{value}</dd></div>)}</dl>
}

const policySources: Record<string, string> = { built_in: 'the built-in policy', server: 'the policy kept on the server', sent: 'the policy that was sent with the run', repository: 'the policy of the repository' }

const waitsFor = (run: Run) => (run.ranks?.missing.length ? `further ranks (${run.ranks.missing.slice(0, 16).join(', ')}${run.ranks.missing.length > 16 ? ', …' : ''})` : 'further ranks')

function Verdict({ run }: { run: Run }) {
  const { verdict } = run
  if (run.error) return <div class="notice fail"><strong>{run.error.type.replace(/_/g, ' ')}.</strong> {run.error.detail}</div>
  if (!verdict) return <p>{run.status === 'pending' ? `It waits for ${waitsFor(run)}, and is judged when they are there. What is missing after 30 minutes (unless the service is set otherwise) is missed: it is judged with what came, as inconclusive. POST ${run.links.self}/finish ends the wait now.` : 'It is being analysed; the verdict comes in a moment.'}</p>
  const failing = verdict.rules.filter((rule) => rule.outcome === 'fail' || rule.outcome === 'inconclusive')
  const steps = [...new Set(failing.map((rule) => rule.next).filter(Boolean))].slice(0, 3)
  return (
    <>
      <p class="verdict-summary">{verdict.summary}</p>
      {steps.length > 0 && <ul class="verdict-next">{steps.map((text) => <li><Sentence text={text} project={run.project} /></li>)}</ul>}
      {verdict.mode === 'observe' && <p class="hint">This project observes: nothing is blocked, whatever the verdict.</p>}
      {run.superseded && <p class="hint">A higher attempt of this job has taken its place.</p>}
    </>
  )
}

/// The rank that a page opens with: the one that a finding or the explanation blames, else the worst in what failed.
function blamedRank(run: Run): number | null {
  const ranks = new Set(run.report?.ranks.map((rank) => rank.rank))
  if (ranks.size < 2) return null
  const worst = (metric: string) => {
    const row = run.report?.run.measurements.find((item) => item.metric === metric)
    return row && row.min !== row.max ? (row.better === 'higher' ? row.min_rank : row.better === 'lower' ? row.max_rank : undefined) : undefined
  }
  const failed = run.verdict?.rules.filter((rule) => rule.outcome === 'fail' || rule.outcome === 'warn') ?? []
  const named = run.verdict?.explanations?.map((item) => /\brank (\d+)/.exec(`${item.sentence ?? ''} ${item.contributions.map((part) => part.name).join(' ')}`)?.[1]) ?? []
  const blamed = [...named, ...(run.report?.run.findings.map((finding) => finding.evidence['rank']) ?? []), ...failed.map((rule) => worst(rule.metric))]
  return blamed.filter((rank) => rank !== undefined && rank !== null).map(Number).find((rank) => ranks.has(rank)) ?? null
}

function RunView({ run, again }: { run: Run; again: () => void }) {
  const { query } = usePlace()
  const [accepting, setAccepting] = useState(false)
  const base = baselineRun(run)
  const betterOf = (metric: string): Better | undefined => run.verdict?.rules.find((rule) => rule.metric === metric)?.better ?? run.report?.run.measurements.find((row) => row.metric === metric)?.better
  const against = run.verdict?.explanations?.[0]?.against_run ?? base
  const outcome = run.verdict?.outcome
  const worthAccepting = outcome === 'fail' || outcome === 'warn'
  return (
    <>
      <div class={`verdict ${outcome ?? 'none'}`}>
        <div class="verdict-head"><h1><RunBadge run={run} large /></h1></div>
        <Verdict run={run} />
        <div class="actions">
          {against && <a class="button primary" href={compareHref(run.project, against, run.id)}>Compare with the baseline</a>}
          <a class="button" href={projectHref(run.project, { workload: run.workload, branch: run.branch })}>History</a>
          <TraceActions run={run} />
          {worthAccepting && <button type="button" class="button" onClick={() => setAccepting(true)}>Accept…</button>}
        </div>
      </div>
      <Facts run={run} />
      {run.warnings.map((text) => <div class="notice warn">{text}</div>)}
      <Acceptances run={run} onDone={again} />
      {run.verdict && <WhySection explanations={run.verdict.explanations ?? []} betterOf={betterOf} baseName="Baseline run" headName="This run" told={run.verdict} hint="From one run of the baseline to this one, cause by cause." />}
      {run.verdict && (
        <Section title="Rules" id="rules" hint={`By ${policySources[run.verdict.policy_source] ?? run.verdict.policy_source}; ${run.verdict.baseline_runs.length === 0 ? 'no run to compare with' : `compared with ${plural(run.verdict.baseline_runs.length, 'run')}`}.`}>
          <Rules rules={run.verdict.rules} project={run.project} />
          {run.verdict.notes.length > 0 && <ul class="facts-list">{run.verdict.notes.map((note) => <li>{note}</li>)}</ul>}
          {run.verdict.baseline_runs.length > 0 && <details><summary>Runs of the baseline</summary><p class="run-list">{run.verdict.baseline_runs.slice(0, 30).map((id) => <a href={runHref(run.project, id)}><code>{id.slice(-8)}</code></a>)}</p></details>}
        </Section>
      )}
      {run.report && <ReportSections report={run.report} rank={Number(query.get('rank') ?? blamedRank(run) ?? run.report.ranks[0]?.rank ?? 0)} onRank={(rank) => setQuery({ rank: String(rank) })} />}
      {accepting && <AcceptDialog run={run} onClose={() => setAccepting(false)} onDone={() => { setAccepting(false); again() }} />}
    </>
  )
}

export function RunPage({ project, id }: { project: string; id: string }) {
  const run = useLoad(`run ${project} ${id}`, (signal) => get<Run>(runPath(project, id), signal))
  if (run.problem) return <><h1>Run</h1><ProblemBox problem={run.problem} again={run.again} what="run" /></>
  if (!run.value) return <><h1>Run</h1><Loading what="run" /></>
  return <RunView run={run.value} again={run.again} />
}
