import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Panel } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { formatBytes } from '../../parts/time.tsx';
import type { Answered } from './run.ts';

/** The result of a run. */
export interface Outcome {
  readonly running: boolean;
  /** All answers, newest last; a subscription gives several. */
  readonly answers: readonly Answered[];
  /** Answers of a subscription that are not kept any more. */
  readonly dropped: number;
  /** Why there is no answer. */
  readonly failed: string | null;
}

export const NOTHING: Outcome = { running: false, answers: [], dropped: 0, failed: null };

/** The most characters that are shown of an answer: more would make the page slow. */
const MAX_ANSWER = 200_000;
/** The same for each of several events. */
const MAX_EVENT = 20_000;

/** The answer, or the events of a subscription as they come. */
export function Result({ outcome, several }: { outcome: Outcome; several: boolean }) {
  const { answers, running, failed, dropped } = outcome;
  const last = answers.at(-1);
  return (
    <Panel name={t('Result')} tools={<Summary outcome={outcome} several={several} />}>
      <div class="graphql-result" aria-busy={running && last === undefined}>
        {failed !== null && <p role="alert">{failed}</p>}
        {last === undefined && failed === null && (
          <p class="quiet">
            {running ? t('Waiting for the answer …') : t('Ctrl+Enter runs the operation')}
          </p>
        )}
        {dropped > 0 && (
          <p class="quiet">{t('{n} earlier events are not shown', { n: dropped })}</p>
        )}
        {answers.map((answer, index) => (
          <Text key={dropped + index} answer={answer} most={several ? MAX_EVENT : MAX_ANSWER} />
        ))}
      </div>
    </Panel>
  );
}

/** One line about the answer, for the eye and for a screen reader. */
function Summary({
  outcome: { running, answers, dropped },
  several,
}: {
  outcome: Outcome;
  several: boolean;
}) {
  const last = answers.at(-1);
  const count = answers.length + dropped;
  const text = !last
    ? running
      ? t('Running')
      : ''
    : several
      ? t(running ? '{n} events, waiting for more' : '{n} events', { n: count })
      : t('{status} in {ms} ms, {size}', {
          status: last.status,
          ms: Math.round(last.took),
          size: formatBytes(last.text.length),
        });
  return (
    <p role="status" class="quiet">
      {text}
    </p>
  );
}

function Text({ answer, most }: { answer: Answered; most: number }) {
  const { text, whole } = jsonLines(answer.text, most);
  return (
    <>
      <pre tabIndex={0} aria-label={t('Answer')} role="group">
        {text || answer.text.slice(0, most)}
      </pre>
      {!whole && answer.text !== '' && (
        <p class="graphql-cut">
          {t('The answer has {size}; its beginning is shown.', {
            size: formatBytes(answer.text.length),
          })}{' '}
          <Button onClick={() => saveFile('result.json', 'application/json', [answer.text])}>
            {t('Download')}
          </Button>
        </p>
      )}
    </>
  );
}

/** The beginning of a JSON text, over several lines. */
interface JsonLines {
  readonly text: string;
  /** Whether the whole text is there. */
  readonly whole: boolean;
}

/**
 * Lays out the beginning of a JSON text. Its characters stay as they are, so that no number is
 * rounded, and what is beyond `most` characters costs nothing.
 *
 * @example jsonLines('{"a":[1,2]}', 1000).text // '{\n  "a": [\n    1,\n    2\n  ]\n}'
 */
export function jsonLines(json: string, most: number): JsonLines {
  let [text, depth, at] = ['', 0, 0];
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const token of tokens(json)) {
    if (text.length > most) return { text: text.slice(0, most), whole: false };
    at += 1;
    if (token === '{' || token === '[') {
      depth += 1;
      text += token + newLine();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      text = /[{[]\s*$/.test(text.slice(-200)) ? text.trimEnd() + token : text + newLine() + token;
    } else if (token === ',') text += token + newLine();
    else text += token === ':' ? ': ' : token;
  }
  return text.length > most ? { text: text.slice(0, most), whole: false } : { text, whole: at > 0 };
}

/** Strings, punctuation, and the rest. A string that does not end is taken as it is. */
function* tokens(json: string): Generator<string> {
  const next = /"(?:[^"\\]|\\[^])*"?|[{}[\],:]|[^\s"{}[\],:]+/g;
  for (let found = next.exec(json); found; found = next.exec(json)) yield found[0];
}
