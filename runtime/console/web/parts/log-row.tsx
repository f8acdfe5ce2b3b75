import type { ComponentChildren } from 'preact';
import { t } from '../messages.ts';
import { ansiParts } from './ansi.ts';
import type { LogLine } from './log-lines.ts';

/**
 * The most pieces with their own colours in one line. The rest is plain, so that the document stays
 * small.
 */
const MOST_PARTS = 12;
/** Characters of a line that a row shows; all of them are seen when the line is opened. */
const MOST_TEXT = 2000;

interface LogRowProps {
  readonly line: LogLine;
  readonly opened: boolean;
  readonly open: (line: LogLine) => void;
}

/** One line in one row: its time, its level, and its text up to the first line end. */
export function LogRow({ line, open, opened }: LogRowProps) {
  const { time, level, text } = line;
  const end = text.indexOf('\n');
  const first = (end < 0 ? text : text.slice(0, end)).slice(0, MOST_TEXT);
  const more = end < 0 ? 0 : text.split('\n').length - 1;
  return (
    <div class={opened ? 'log-row opened' : 'log-row'} onClick={() => select(line, open)}>
      {time && <time class="log-time">{timeOf(time)}</time>}
      {level && <span class={`log-level ${level}`}>{level}</span>}
      <span class="log-text">{coloured(first)}</span>
      {more > 0 && <span class="log-more">{t('+{n} lines', { n: more })}</span>}
    </div>
  );
}

/** A click that ends a selection of text opens nothing. */
function select(line: LogLine, open: LogRowProps['open']): void {
  if (getSelection()?.isCollapsed !== false) open(line);
}

/** The local time of day, with milliseconds. */
export function timeOf(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** A text in its ANSI colours. A carriage return stays in the text and is made visible. */
export function coloured(text: string): ComponentChildren {
  const parts = ansiParts(text);
  const few = parts.slice(0, MOST_PARTS);
  const rest = parts.slice(MOST_PARTS).map((part) => part.text);
  return [
    ...few.map(({ text: piece, classes }, at) =>
      classes === '' ? (
        marked(piece)
      ) : (
        <span key={at} class={classes}>
          {marked(piece)}
        </span>
      ),
    ),
    ...rest,
  ];
}

function marked(text: string): ComponentChildren {
  const [first = '', ...others] = text.split('\r', MOST_PARTS);
  if (others.length === 0) return first;
  return [first, ...others.flatMap((piece) => [<span class="log-return">{'\r'}</span>, piece])];
}
