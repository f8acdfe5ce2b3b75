import { query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { Choice } from '../../parts/field.tsx';
import { Page } from '../../parts/page.tsx';
import { useCall } from '../../parts/use-call.ts';
import { AttentionList, useAttention } from './attention.tsx';
import { type Figures, RANGES } from './figures.ts';
import { ErrorsPanel, LatencyPanel, RequestsPanel } from './traffic.tsx';
import { HealthPanel, type ServerDescription } from './health.tsx';
import { FirstSteps } from './first-steps.tsx';

/** The page `Overview`: problems, figures, and the next steps. */
export function OverviewPage() {
  const asked = query.value.get('range');
  const range = RANGES.find(({ id }) => id === asked) ?? RANGES[0]!;
  const info = useCall<ServerDescription>('/api/system/info', { every: 10_000 });
  const figures = useCall<Figures>(`/api/system/metrics?range=${range.id}`, { every: range.every });
  const attention = useAttention(info.data);
  const choose = (id: string) => setQuery({ range: id === RANGES[0]!.id ? null : id });
  return (
    <Page
      title={t('Overview')}
      tools={
        <Choice
          label={t('Range')}
          value={range.id}
          options={RANGES.map(({ id, title }) => [id, t(title)] as const)}
          choose={choose}
        />
      }
    >
      <AttentionList items={attention} />
      <FirstSteps />
      <HealthPanel info={info} figures={figures} attention={attention.length} />
      <div class="panels overview-traffic">
        <RequestsPanel of={figures} />
        <ErrorsPanel of={figures} />
        <LatencyPanel of={figures} />
      </div>
    </Page>
  );
}
