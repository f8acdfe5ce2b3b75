import { useMemo, useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { lineOf, type StreamEvent } from '../../parts/event-frames.ts';
import { createLogLines, type LogFilter } from '../../parts/log-lines.ts';
import { LogView } from '../../parts/log-view.tsx';
import { notifyFailure } from '../../parts/notices.tsx';
import { type Streamed, useStream } from '../../parts/use-stream.ts';
import { type PausableLines, useHeld } from './held-lines.ts';
import { LogTools, type LogToolsProps } from './log-tools.tsx';
import { appLine, type LogEntry, serverLine } from './lines.ts';

/** Lines that are read at first. */
const FIRST = 1000;

/** The server's own log, continued live. */
export function ServerLog({ filter }: { filter: LogFilter }) {
  const level = filter.level === null ? '' : `&level=${filter.level}`;
  const lines = useMemo(() => createLogLines(), []);
  const held = useHeld(lines);
  const stream = useStream(`/api/system/logs?limit=${FIRST}${level}`, (events) => {
    for (const { event, data } of events) {
      if (event === 'lines') held.take((JSON.parse(data) as LogEntry[]).map(serverLine));
      if (event === 'dropped') lines.skip((JSON.parse(data) as { lines: number | null }).lines);
    }
  });
  return (
    <FollowedLog name="server" {...{ held, stream, filter }}>
      <OlderLines held={held} level={level} />
    </FollowedLog>
  );
}

/** The output of a hosted app. */
export function AppLog({ name, filter }: { name: string; filter: LogFilter }) {
  const lines = useMemo(() => createLogLines(), []);
  const held = useHeld(lines);
  const path = `/api/apps/${encodeURIComponent(name)}/logs?tail=${FIRST}&timestamps=true`;
  const stream = useStream(path, (events: readonly StreamEvent[]) =>
    held.take(events.map(({ data }) => appLine(lineOf(data)))),
  );
  return <FollowedLog name={name} {...{ held, stream, filter }} />;
}

function FollowedLog({ name, held, stream, filter, children }: LogToolsProps) {
  return (
    <div class="logs" aria-busy={stream.state === 'connecting' && stream.error === null}>
      <LogTools {...{ name, held, stream, filter }}>{children}</LogTools>
      {stream.error !== null && <Failure error={stream.error} again={stream.again} />}
      <LogView lines={held.lines} filter={filter} empty={emptyText(stream, filter)} />
    </div>
  );
}

/** Before the first answer nobody knows whether there are lines. */
function emptyText({ state }: Streamed, { search }: LogFilter): string {
  if (state !== 'open' && state !== 'ended') return '';
  return search === '' ? t('No lines yet') : t('No lines match');
}

/** Reads what was logged before the first line that is shown. */
function OlderLines({ held, level }: { held: PausableLines; level: string }) {
  const [state, setState] = useState<'some' | 'reading' | 'none'>('some');
  const first = held.lines.version.value >= 0 ? held.lines.all()[0] : undefined;
  if (state === 'none' || first === undefined || held.lines.all().length < FIRST) return null;
  const read = async () => {
    setState('reading');
    const path = `/api/system/logs?limit=${FIRST}&cursor=${first.id}${level}`;
    try {
      const { lines, next_cursor } = await call<Page>('GET', path);
      held.lines.prepend(lines.map(serverLine).toReversed());
      setState(next_cursor === null ? 'none' : 'some');
    } catch (error) {
      notifyFailure(error);
      setState('some');
    }
  };
  return (
    <Button disabled={state === 'reading'} onClick={read}>
      {t('Older lines')}
    </Button>
  );
}

interface Page {
  readonly lines: readonly LogEntry[];
  readonly next_cursor: string | null;
}
