// What a verdict or a comparison tells beside its numbers: explanations, facts, a changed workload, cost.
import type { Better, Explanation, Told } from '../api'
import { formatDelta } from '../format'
import { Waterfall } from '../waterfall'
import { metricName } from '../words'
import { Section } from '../ui'

export function ToldBox({ told }: { told: Told }) {
  const { workload_changed: changed, cost, facts } = told
  return (
    <>
      {changed && (
        <div class="notice warn" role="note">
          <strong>The workload itself changed.</strong> {changed.sentence}
          {changed.reasons.length > 0 && <ul>{changed.reasons.map((reason) => <li>{reason}</li>)}</ul>}
        </div>
      )}
      {cost && <div class="notice" role="note"><strong>Cost.</strong> {cost.sentence}</div>}
      {facts && facts.length > 0 && <ul class="facts-list">{facts.map((fact) => <li>{fact}</li>)}</ul>}
    </>
  )
}

export function WhySection({ explanations, betterOf, baseName, headName, told, hint }: {
  explanations: readonly Explanation[]; betterOf: (metric: string) => Better | undefined; baseName: string; headName: string; told: Told; hint: string
}) {
  const nothing = explanations.length === 0 && !told.facts?.length && !told.workload_changed && !told.cost
  if (nothing) return null
  return (
    <Section title="Why" id="why" hint={explanations.length > 0 ? hint : undefined}>
      {explanations.map((explanation, index) => (
        <details class="explanation" open={index === 0}>
          <summary>{explanation.sentence || `${metricName(explanation.metric)}: ${formatDelta(explanation.delta, explanation.unit)}`}</summary>
          <Waterfall explanation={explanation} better={betterOf(explanation.metric)} baseName={baseName} headName={headName} />
        </details>
      ))}
      <ToldBox told={told} />
    </Section>
  )
}
