import { useMemo } from 'preact/hooks';
import { query } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { lineOf } from '../../parts/event-frames.ts';
import { createLogLines } from '../../parts/log-lines.ts';
import { LogView } from '../../parts/log-view.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { formatNumber } from '../../parts/time.tsx';
import { useStream } from '../../parts/use-stream.ts';
import { type AppProps, routeOf } from './types.ts';

const TAIL = 1000;

/** The output of all replicas, continued live. */
export function LogsTab({ app }: AppProps) {
  const lines = useMemo(() => createLogLines(), []);
  const search = query.value.get('q') ?? '';
  const path =
    app.deployment === null ? null : `${routeOf(app.name)}/logs?tail=${TAIL}&timestamps=true`;
  const { error, again } = useStream(path, (events) =>
    lines.append(events.map(({ id, data }) => ({ id, ...timedOf(lineOf(data)) }))),
  );
  return (
    <>
      <div class="tools">
        <SearchBox label={t('Search logs')} pause={60} />
        <span role="status">{t('{n} lines', { n: formatNumber(lines.count.value) })}</span>
        <Button onClick={lines.clear}>{t('Clear')}</Button>
      </div>
      {error !== null && <Failure error={error} again={again} />}
      <LogView
        lines={lines}
        filter={{ search, level: null }}
        empty={
          app.deployment === null
            ? t('The app has not been deployed yet')
            : t('The app has printed nothing yet')
        }
      />
    </>
  );
}

/** A line begins with its time. */
function timedOf(data: string): { readonly text: string; readonly time: string | null } {
  const [, time, text] = /^(\d{4}-\d\d-\d\dT\S+) ([^]*)$/.exec(data) ?? [];
  return time === undefined ? { text: data, time: null } : { text: text ?? '', time };
}
