import { t } from '../../messages.ts';
import { jsonLines } from './lines.ts';
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
