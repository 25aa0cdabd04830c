// Why a metric moved: from the base's value, cause by cause, to the head's. The bars are the numbers: they add up.
import type { Better, Contribution, Explanation } from './api'
import { formatDelta, formatRelative, formatValue } from './format'
import { causeName, causePart, isWorse, metricName } from './words'

interface Row {
  key: string
  name: string
  detail: string
  part: string
  delta: number
  from: number
  to: number
}

/// The name of an idle cause and of the rest says nothing that the cause does not.
const namesNothing = (item: Contribution) => item.name === item.cause || /^(idle\.|other$|distribution$)/.test(item.cause)
const detailOf = (item: Contribution) => [namesNothing(item) ? '' : item.name, item.phase ? `in ${item.phase}` : ''].filter(Boolean).join(' · ')

function rowsOf(explanation: Explanation, base: number): Row[] {
  let running = base
  return explanation.contributions.map((item, index) => {
    const from = running
    running += item.delta
    return { key: String(index), name: causeName(item.cause, item.delta), detail: detailOf(item), part: causePart(item.cause), delta: item.delta, from, to: running }
  })
}

/// The part of the axis that the bars need: zooming in on the change is honest only where it is said.
function domainOf(rows: readonly Row[], base: number, head: number) {
  const ends = [base, head, ...rows.flatMap((row) => [row.from, row.to])]
  const low = Math.min(...ends)
  const high = Math.max(...ends)
  const span = high - low || Math.abs(high) || 1
  const fromZero = low >= 0 && low < span * 1.5
  return { low: fromZero ? 0 : low - span * 0.12, high: high + span * 0.06, fromZero }
}

const tone = (delta: number, better: Better | undefined) => {
  const worse = isWorse(delta, better)
  return worse === null ? 'neutral' : worse ? 'worse' : 'improved'
}

export function Waterfall({ explanation, better, baseName, headName }: { explanation: Explanation; better: Better | undefined; baseName: string; headName: string }) {
  const { unit, delta } = explanation
  const base = explanation.base ?? 0
  const head = explanation.head ?? base + delta
  const rows = rowsOf(explanation, base)
  const most = Math.max(Math.abs(base), Math.abs(head)) || undefined // one unit for all of it
  const domain = domainOf(rows, base, head)
  const percent = (value: number) => `${(((value - domain.low) / (domain.high - domain.low)) * 100).toFixed(3)}%`
  const bar = (from: number, to: number) => ({ left: percent(Math.min(from, to)), width: `max(2px, calc(${percent(Math.max(from, to))} - ${percent(Math.min(from, to))}))` })
  const summed = rows.reduce((sum, row) => sum + row.delta, 0)
  const whole = Math.abs(summed - delta) <= Math.max(1e-9, Math.abs(delta) * 1e-6)
  const end = (name: string, value: number, kind: string) => (
    <tr class={`total ${kind}`}>
      <th scope="row">{name}</th>
      <td class="track"><span class="bar ends" style={bar(domain.low, value)} /></td>
      <td class="number"><strong>{formatValue(value, unit, most)}</strong></td>
    </tr>
  )
  return (
    <figure class="waterfall">
      <figcaption>
        <strong>{metricName(explanation.metric)}</strong> {formatValue(base, unit, most)} → {formatValue(head, unit, most)}{' '}
        <span class={`delta ${tone(delta, better)}`}>{formatDelta(delta, unit, most)}{base !== 0 && unit !== 'ratio' ? ` (${formatRelative(delta / base)})` : ''}</span>
      </figcaption>
      <table>
        <caption class="visually-hidden">What {metricName(explanation.metric)} is made of, cause by cause</caption>
        <colgroup><col class="cause-column" /><col /><col class="number-column" /></colgroup>
        <thead class="visually-hidden"><tr><th scope="col">Cause</th><th scope="col">Bar</th><th scope="col">Change</th></tr></thead>
        <tbody>
          {end(baseName, base, 'first')}
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row"><span class={`swatch ${row.part}`} aria-hidden="true" /><span class="cause">{row.name}</span>{row.detail && <span class="detail" title={row.detail}>{row.detail}</span>}</th>
              <td class="track"><span class={`bar ${tone(row.delta, better)}`} style={bar(row.from, row.to)} /></td>
              <td class={`number delta ${tone(row.delta, better)}`}>{formatDelta(row.delta, unit, most)}</td>
            </tr>
          ))}
          {end(headName, head, 'last')}
        </tbody>
      </table>
      <p class="hint">
        {!whole ? `${rows.length === 1 ? 'Its one part is' : 'The parts add up to'} ${formatDelta(summed, unit, most)}.` : rows.length === 1 ? 'One cause makes all of it.' : `The ${rows.length} parts add up to ${formatDelta(delta, unit, most)}.`}
        {!domain.fromZero && ' Bars do not begin at zero.'}
      </p>
    </figure>
  )
}
