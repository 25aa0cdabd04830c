// A report as a page shows it: the same sections for a stored run and for a trace that was only looked at.
import { useState } from 'preact/hooks'
import type { Collective, Finding, Measurement, Rank, Report, Term } from './api'
import { formatBytes, formatCount, formatShare, formatTime, formatValue, plural, shortKernel } from './format'
import { betterName, busyParts, causeName, idleParts, metricName, missingName } from './words'
import { DeviceBar, Legend, sharesOf, StepBars } from './timebars'
import { Section, Select, Table } from './ui'

const severities: Record<string, readonly [string, string]> = { data_loss: ['Data lost', 'fail'], warning: ['Warning', 'warn'], info: ['Note', 'none'] }

/// The unit of a piece of evidence is the end of its name.
const evidenceUnits: readonly (readonly [RegExp, string])[] = [[/(^|_)ns$/, 'ns'], [/(^|_)(ratio|share)$/, 'ratio'], [/(^|_)bytes$/, 'bytes'], [/(^|_)celsius$/, '°C']]
const evidenceUnit = (key: string) => evidenceUnits.find(([end]) => end.test(key)) ?? null
const evidenceName = (key: string) => {
  const unit = evidenceUnit(key)
  return (unit ? key.replace(unit[0], '') : key.replace(/_count$/, '')).replace(/_/g, ' ') || key
}

function evidenceText(value: unknown, key: string): string {
  const unit = evidenceUnit(key)
  if (typeof value === 'number' && unit) return formatValue(value, unit[1])
  if (typeof value === 'number') return Number.isInteger(value) ? formatCount(value) : String(Number(value.toPrecision(4)))
  if (typeof value === 'string') return value
  return JSON.stringify(value)
}

interface FoundAt extends Finding {
  ranks: number[] // empty: of the run
  all: Record<string, unknown>[] // the evidence of each
}

/// The same finding of several ranks is one.
function groupedFindings(report: Report): FoundAt[] {
  const found = new Map<string, FoundAt>()
  const take = (finding: Finding, rank: number | null) => {
    const key = JSON.stringify([rank === null, finding.severity, finding.code, finding.advice])
    const known = found.get(key)
    if (known) {
      known.count += finding.count
      known.all.push(finding.evidence)
      if (rank !== null && !known.ranks.includes(rank)) known.ranks.push(rank)
    } else found.set(key, { ...finding, ranks: rank === null ? [] : [rank], all: [finding.evidence] })
  }
  report.run.findings.forEach((finding) => take(finding, null))
  report.ranks.forEach((rank) => rank.findings.forEach((finding) => take(finding, rank.rank)))
  return [...found.values()]
}

function whereText(ranks: readonly number[], all: number): string {
  if (all < 2) return ''
  if (ranks.length === 0) return 'run'
  if (ranks.length === all) return `all ${all} ranks`
  return ranks.length === 1 ? `rank ${ranks[0]}` : `ranks ${ranks.slice(0, 16).join(', ')}${ranks.length > 16 ? ` and ${ranks.length - 16} more` : ''}`
}

/// One value, or from the least to the most of several ranks.
function evidenceOf(all: readonly Record<string, unknown>[], key: string): string {
  const values = all.map((evidence) => evidence[key]).filter((value) => value !== undefined)
  if (values.every((value): value is number => typeof value === 'number')) {
    const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => evidenceText(value, key))
    return low === high ? low! : `${low} – ${high}`
  }
  return [...new Set(values.map((value) => evidenceText(value, key)))].join(', ')
}

export function Findings({ report }: { report: Report }) {
  const all = groupedFindings(report)
  const order = ['data_loss', 'warning', 'info']
  all.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
  if (all.length === 0) return <p class="hint">Nothing was found: neither in the data nor in how the job uses its GPUs.</p>
  return (
    <ul class="findings">
      {all.map((finding) => {
        const [name, kind] = severities[finding.severity] ?? [finding.severity, 'none']
        const where = whereText(finding.ranks, report.ranks.length)
        const keys = [...new Set(finding.all.flatMap((evidence) => Object.keys(evidence)))]
        return (
          <li class={kind}>
            <div class="finding-head">
              <span class={`badge ${kind}`}>{name}</span> <code>{finding.code}</code>
              {where && <span class="muted">{where}</span>}
              {finding.count > 1 && <span class="muted">{formatCount(finding.count)}×</span>}
            </div>
            <p>{finding.advice}</p>
            {keys.length > 0 && (
              <dl class="evidence">{keys.map((key) => <div><dt>{evidenceName(key)}</dt><dd>{evidenceOf(finding.all, key)}</dd></div>)}</dl>
            )}
          </li>
        )
      })}
    </ul>
  )
}

interface IdleRow { cause: string; phase: string; ns: number }

function idleRows(terms: readonly Term[]): IdleRow[] {
  return terms.filter((term) => term.term === 'idle').map((term) => ({ cause: term.cause ?? 'unknown', phase: term.phase ?? '', ns: term.ns })).sort((a, b) => b.ns - a.ns)
}

/// Rows with a bar each: what takes most, first.
function Ranking<Row>({ caption, rows, name, ns, whole, part, extra, most }: {
  caption: string; rows: readonly Row[]; name: (row: Row) => preact.ComponentChildren; ns: (row: Row) => number; whole: number; part: (row: Row) => string; extra?: readonly { head: string; cell: (row: Row) => string }[]; most?: number
}) {
  return (
    <Table caption={caption} rows={rows} most={most ?? 8} columns={[
      { head: 'What', cell: name, class: 'name' },
      { head: 'Share', class: 'share', cell: (row) => <span class="share-bar"><span class={`part ${part(row)}`} style={{ width: `${Math.min(100, (ns(row) / (whole || 1)) * 100)}%` }} /></span> },
      { head: 'Of the window', number: true, cell: (row) => formatShare(ns(row) / (whole || 1)) },
      { head: 'Time', number: true, cell: (row) => formatTime(ns(row)) },
      ...(extra ?? []).map((column) => ({ head: column.head, number: true, cell: column.cell })),
    ]} />
  )
}

const deviceTime = (rank: Rank) => (rank.window?.length_ns ?? 0) * Math.max(1, rank.devices.length)

function IdleSection({ rank }: { rank: Rank }) {
  const rows = idleRows(rank.breakdown)
  if (rows.length === 0) return <p class="hint">The GPU was never idle in this window.</p>
  return <Ranking caption="Idle time by cause and phase" rows={rows} ns={(row) => row.ns} whole={deviceTime(rank)} part={(row) => row.cause}
    name={(row) => <>{causeName(`idle.${row.cause}`)}{row.phase && <span class="muted"> in <code>{row.phase}</code></span>}</>} />
}

const measured = (rank: Rank, run: readonly Measurement[], metric: string) =>
  (run.find((row) => row.metric === metric) ?? rank.measurements.find((row) => row.metric === metric))?.value ?? null

function Collectives({ rank, run }: { rank: Rank; run: readonly Measurement[] }) {
  if (rank.collectives.length === 0) return <p class="hint">This rank did not communicate.</p>
  const split = [...new Set(rank.collectives.map((row) => row.kind))]
    .map((kind) => ({ kind, transfer: measured(rank, run, `${kind}.transfer_mean`), wait: measured(rank, run, `${kind}.wait_share`), busbw: measured(rank, run, `${kind}.busbw`) }))
    .filter((row) => row.transfer !== null || row.wait !== null || row.busbw !== null)
  const facts = (row: (typeof split)[number]) => [
    row.transfer === null ? '' : `transfer ${formatTime(row.transfer)} a call`,
    row.wait === null ? '' : `${formatShare(row.wait)} of the time is waiting for other ranks`,
    row.busbw === null ? '' : `${formatValue(row.busbw, 'GB/s')} bus bandwidth`,
  ].filter(Boolean).join(', ')
  return (
    <>
      <Table<Collective> caption="Collectives by kind and size" rows={[...rank.collectives].sort((a, b) => b.total_ns - a.total_ns)} columns={[
        { head: 'Collective', cell: (row) => <code>{row.kind}</code> },
        { head: 'Message', number: true, cell: (row) => (row.bytes === null ? 'unknown' : formatBytes(row.bytes)) },
        { head: 'Calls', number: true, cell: (row) => formatCount(row.count) },
        { head: 'Mean', number: true, cell: (row) => formatTime(row.total_ns / Math.max(1, row.count)) },
        { head: 'Fastest', number: true, cell: (row) => formatTime(row.min_ns) },
        { head: 'Slowest', number: true, cell: (row) => formatTime(row.max_ns) },
        { head: 'Together', number: true, cell: (row) => formatTime(row.total_ns) },
        { head: 'Group', number: true, cell: (row) => (row.group_size ? `${row.group_size}` : '–') },
      ]} />
      {split.map((row) => <p class="hint"><code>{row.kind}</code>: {facts(row)}.</p>)}
    </>
  )
}

function Kernels({ rank }: { rank: Rank }) {
  return <Ranking caption="Kernels by time" rows={rank.kernels} ns={(row) => row.total_ns} whole={deviceTime(rank)} part={(row) => (row.kind === 'compute' || !row.kind ? 'compute' : 'comm')}
    name={(row) => row.name === 'rest' ? <em>all others</em> : <details class="kernel"><summary><code>{shortKernel(row.name)}</code></summary><code class="whole">{row.name}</code></details>}
    extra={[{ head: 'Calls', cell: (row) => formatCount(row.count) }, { head: 'Mean', cell: (row) => formatTime(row.total_ns / Math.max(1, row.count)) }]} />
}

function Phases({ rank }: { rank: Rank }) {
  if (rank.phases.length === 0) return <p class="hint">No ranges were marked inside the steps. <code>torch.profiler.record_function</code> or NVTX marks them.</p>
  return (
    <Table caption="Phases" rows={[...rank.phases].sort((a, b) => b.host_ns - a.host_ns)} columns={[
      { head: 'Phase', cell: (row) => <code>{row.name}</code> },
      { head: 'Ranges', number: true, cell: (row) => formatCount(row.count) },
      { head: 'Time on the host', number: true, cell: (row) => formatTime(row.host_ns) },
      { head: 'GPU work launched in it', number: true, cell: (row) => formatTime(row.gpu_ns) },
    ]} />
  )
}

const windowNames: Record<string, string> = { steps: 'whole steps', span: 'first to last GPU work', host_steps: 'host ranges of the steps' }

function windowText(rank: Rank): string {
  const { window } = rank
  if (!window) return 'no GPU work'
  const steps = window.steps === null ? '' : `, ${plural(window.steps, 'step')}`
  return `${formatTime(window.length_ns)} (${windowNames[window.kind] ?? window.kind}${steps})`
}

function Environment({ rank }: { rank: Rank }) {
  const rows: [string, string][] = [
    ...Object.entries(rank.environment).map(([key, value]): [string, string] => [key.replace(/_/g, ' '), Array.isArray(value) ? value.join(', ') : value === null ? '–' : String(value)]),
    ['trace', [rank.trace.name, rank.trace.format, rank.trace.compression !== 'none' ? rank.trace.compression : '', formatBytes(rank.trace.bytes)].filter(Boolean).join(' · ')],
    ['producer', rank.trace.producer ?? '–'],
    ['window', windowText(rank)],
  ]
  return <dl class="facts">{rows.map(([key, value]) => <div><dt>{key}</dt><dd>{value}</dd></div>)}</dl>
}

/// All numbers of the run, with a filter.
function Measurements({ rows }: { rows: readonly Measurement[] }) {
  const [filter, setFilter] = useState('')
  const [unmeasured, setUnmeasured] = useState(false)
  const wanted = filter.trim().toLowerCase()
  const shown = rows.filter((row) => (unmeasured || row.value !== null) && (row.metric.toLowerCase().includes(wanted) || metricName(row.metric).toLowerCase().includes(wanted)))
  const spread = (row: Measurement) => row.min === undefined || row.max === undefined || row.min === row.max ? '' : `${formatValue(row.min, row.unit)} (rank ${row.min_rank}) – ${formatValue(row.max, row.unit)} (rank ${row.max_rank})`
  return (
    <>
      <div class="toolbar">
        <input type="search" aria-label="Filter metrics" placeholder="Filter, for example allreduce" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        <label class="check"><input type="checkbox" checked={unmeasured} onChange={(event) => setUnmeasured(event.currentTarget.checked)} /> with those not measured</label>
      </div>
      <Table caption="Measurements" rows={shown} most={15} columns={[
        { head: 'Metric', cell: (row) => <code>{row.metric}</code> },
        { head: 'Value', number: true, cell: (row) => row.value === null ? <span class="muted">{missingName(row.not_measured ?? '')}</span> : formatValue(row.value, row.unit) },
        { head: 'Between ranks', number: true, cell: spread },
        { head: 'Better', cell: (row) => <span class="muted">{row.better === 'none' ? '–' : betterName[row.better].split(' ')[0]}</span> },
      ]} />
    </>
  )
}

function TimeSection({ report, rank, chooser }: { report: Report; rank: Rank; chooser: preact.ComponentChildren }) {
  const rows = report.ranks.flatMap((item) => item.devices.map((device) => ({ device, name: report.ranks.length > 1 ? `Rank ${item.rank} · GPU ${device.device}` : `GPU ${device.device}` })))
  const used = new Set(rows.flatMap((row) => sharesOf(row.device).map((share) => share.id)))
  return (
    <Section title="Where the time went" id="time" hint="Every nanosecond of the window belongs to one part: what was exposed, not what ran beside compute." actions={chooser}>
      <Legend parts={[...busyParts, ...idleParts].filter((part) => used.has(part.id))} />
      <div class="devices">{rows.map((row) => <DeviceBar device={row.device} name={row.name} />)}</div>
      <h3>Step by step{report.ranks.length > 1 && <span class="muted"> of rank {rank.rank}</span>}</h3>
      <StepBars rank={rank} />
    </Section>
  )
}

/// Everything that a report tells, for one rank at a time where it has several.
export function ReportSections({ report, rank: wanted, onRank }: { report: Report; rank: number; onRank: (rank: number) => void }) {
  const rank = report.ranks.find((item) => item.rank === wanted) ?? report.ranks[0]
  if (!rank) return <p class="hint">The report has no rank.</p>
  const chooser = report.ranks.length > 1 && (
    <Select label="Rank" value={String(rank.rank)} options={report.ranks.map((item) => [String(item.rank), `rank ${item.rank}`])} onChange={(value) => onRank(Number(value))} />
  )
  const ofRank = report.ranks.length > 1 ? `of rank ${rank.rank}` : undefined
  return (
    <>
      <Section title="Findings" id="findings" hint="What stands out, and what to try."><Findings report={report} /></Section>
      {rank.window && <TimeSection report={report} rank={rank} chooser={chooser} />}
      {rank.window && <Section title="Idle time" id="idle" hint={ofRank} actions={chooser}><IdleSection rank={rank} /></Section>}
      <Section title="Collectives" id="collectives" hint={ofRank} actions={chooser}><Collectives rank={rank} run={report.run.measurements} /></Section>
      <Section title="Top kernels" id="kernels" hint={ofRank} actions={chooser}><Kernels rank={rank} /></Section>
      <Section title="Phases" id="phases" hint={ofRank} actions={chooser}><Phases rank={rank} /></Section>
      <Section title="All measurements" id="measurements" hint="Of the run: the mean over its ranks."><Measurements rows={report.run.measurements} /></Section>
      <Section title="Environment" id="environment" hint={ofRank} actions={chooser}><Environment rank={rank} /></Section>
    </>
  )
}
