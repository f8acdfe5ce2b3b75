import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import type { LogFilter, LogLine, LogLines } from './log-lines.ts';
import { LogRow, coloured } from './log-row.tsx';
import { formatDate, formatTimeOfDay } from './time.tsx';

/** What a `LogView` shows. */
export interface LogViewProps {
  /** The accessible name; `Log lines` when absent. */
  readonly name?: string;
  readonly lines: LogLines;
  readonly filter?: LogFilter;
  /** A text that says why there are no lines. */
  readonly empty?: string;
}

/** The height of a row in pixels. `log-view.css` has the same number. */
const ROW = 20;
/** Rows that are drawn above and below the visible ones, so that scrolling shows no gap. */
const SPARE = 20;
/** Pixels from the end within which the view follows new lines. */
const NEAR = 24;

const ALL: LogFilter = { search: '', level: null };

/**
 * Shows the lines of a log: of 100,000 lines only those that are seen are in the document. It stays
 * at the end while the user is there, and where they are when they have scrolled up. A click or
 * Enter opens a line.
 *
 * @example
 * const lines = useMemo(() => new LogLines(), []);
 * return <LogView lines={lines} filter={{ search: 'GET', level: 'warn' }} />;
 */
export function LogView({ name, lines, filter = ALL, empty }: LogViewProps) {
  const shown = lines.version.value >= 0 ? lines.matching(filter) : [];
  const { box, from, to, away, onScroll, toEnd } = useRows(lines, shown);
  const [opened, open] = useState<LogLine | null>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = lineByKey(event.key, shown, opened, to);
    if (next === undefined) return;
    event.preventDefault();
    open(next);
  };
  return (
    <div class="log-frame">
      <div
        ref={box}
        class="log-view"
        role="log"
        aria-live="off"
        aria-label={name ?? t('Log lines')}
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        {shown.length === 0 && <p class="log-empty">{empty ?? t('No lines')}</p>}
        <div class="log-space" style={{ height: `${from * ROW}px` }} />
        {shown.slice(from, to).map((line) => (
          <LogRow key={line.id} line={line} open={open} opened={line === opened} />
        ))}
        <div class="log-space" style={{ height: `${(shown.length - to) * ROW}px` }} />
      </div>
      {away && (
        <Button class="log-end" onClick={toEnd}>
          {t('Go to the newest lines')}
        </Button>
      )}
      {opened && <LogDetails line={opened} close={() => (open(null), box.current?.focus())} />}
    </div>
  );
}

/** The line that a key opens; null for none. Undefined when the key has no such meaning. */
function lineByKey(
  key: string,
  shown: readonly LogLine[],
  opened: LogLine | null,
  to: number,
): LogLine | null | undefined {
  if (key === 'Escape' && opened) return null;
  if (key === 'Enter' && !opened) return shown[Math.max(0, Math.min(to, shown.length) - 1)] ?? null;
  if (!opened || (key !== 'ArrowUp' && key !== 'ArrowDown')) return undefined;
  return shown[shown.indexOf(opened) + (key === 'ArrowUp' ? -1 : 1)] ?? opened;
}

/** Computes which rows are in the document, and keeps the user's place. */
function useRows(lines: LogLines, shown: readonly LogLine[]) {
  const box = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<Range>({ from: 0, to: 100 });
  const [away, setAway] = useState(false);
  const following = useRef(true);
  const begins = useRef(lines.begins());
  const scrollToEnd = () => box.current?.scrollTo(0, box.current.scrollHeight);
  const look = () =>
    setRange((last) => (box.current ? rangeOf(box.current, lastLength.current, last) : last));
  const lastLength = useRef(0);
  lastLength.current = shown.length;
  useLayoutEffect(() => {
    const moved = begins.current - lines.begins();
    begins.current = lines.begins();
    if (following.current) scrollToEnd();
    else if (moved !== 0) box.current?.scrollBy(0, moved * ROW);
    look();
  });
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const onScroll = (event: Event) => {
    const { scrollHeight, scrollTop, clientHeight } = event.currentTarget as HTMLElement;
    following.current = scrollHeight - scrollTop - clientHeight <= NEAR;
    setAway(!following.current);
    look();
  };
  const toEnd = () => {
    scrollToEnd();
    box.current?.focus();
  };
  const [from, to] = [Math.min(range.from, shown.length), Math.min(range.to, shown.length)];
  return { box, from, to, away, onScroll, toEnd };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The range of rows to draw. An equal range is returned as the same object, so that nothing is
 * drawn again.
 */
function rangeOf({ scrollTop, clientHeight }: HTMLElement, length: number, last: Range): Range {
  const from = Math.min(length, Math.max(0, Math.floor(scrollTop / ROW) - SPARE));
  const to = Math.min(length, Math.ceil((scrollTop + clientHeight) / ROW) + SPARE);
  return from === last.from && to === last.to ? last : { from, to };
}

/** A whole line: its text and its fields. */
function LogDetails({ line, close }: { line: LogLine; close: () => void }) {
  const { time, level, text, details } = line;
  const fields = details && typeof details === 'object' ? Object.entries(details) : [];
  return (
    <section class="log-details" aria-label={t('Line')}>
      <header class="buttons">
        {level && <span class={`log-level ${level}`}>{level}</span>}
        {time && (
          <time dateTime={time} class="quiet">
            {momentOf(time)}
          </time>
        )}
        <span class="spread" />
        <Button onClick={() => navigator.clipboard.writeText(text)}>{t('Copy line')}</Button>
        <Button onClick={close}>{t('Close')}</Button>
      </header>
      <pre tabIndex={0}>{coloured(text)}</pre>
      {fields.length > 0 && (
        <dl>
          {fields.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** The date and time of a line. A text that is no time stays as it is. */
const momentOf = (time: string): string =>
  Number.isNaN(Date.parse(time)) ? time : `${formatDate(time)} ${formatTimeOfDay(time)}`;
