import { t } from '../messages.ts';
import { Button } from './button.tsx';
import type { LogLine } from './log-lines.ts';
import { coloured } from './log-row.tsx';
import { formatDate, formatTimeOfDay } from './time.tsx';

/** A whole line: its text and its fields. */
export function LogDetails({ line, close }: { line: LogLine; close: () => void }) {
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
