import { useEffect, useRef, useState } from 'preact/hooks';
import { untilBack } from '../../parts/connection.ts';
import { failureText } from '../../parts/use-call.ts';
import type { Typed } from './typed.ts';
import { askedOf } from './typed.ts';
import { NOTHING, type Outcome } from './result.tsx';
import { type Answered, headersIn, run } from './run.ts';

/** Events of a subscription that are kept. */
const KEPT = 50;

interface Running {
  readonly outcome: Outcome;
  /** Whether what runs, or ran, is a subscription. */
  readonly several: boolean;
  start(typed: Typed): void;
  stop(): void;
}

/** Runs operations, one at a time. Leaving the page ends what runs. */
export function useRun(): Running {
  const [outcome, setOutcome] = useState<Outcome>(NOTHING);
  const [several, setSeveral] = useState(false);
  const leaving = useRef<AbortController | null>(null);
  const stop = () => leaving.current?.abort();
  useEffect(() => stop, []);
  const start = (typed: Typed) => {
    stop();
    const mine = (leaving.current = new AbortController());
    const { signal } = mine;
    const onAnswer = (answer: Answered) => setOutcome((last) => withAnswer(last, answer));
    const end = (failed: string | null) =>
      leaving.current === mine && setOutcome((last) => ({ ...last, running: false, failed }));
    setOutcome({ ...NOTHING, running: true });
    setSeveral(typed.kind === 'subscription');
    begin(typed, { signal, onAnswer }).then(
      () => end(null),
      (error: unknown) => end(signal.aborted ? null : reasonOf(error)),
    );
  };
  return { outcome, several, start, stop };
}

async function begin(
  typed: Typed,
  { signal, onAnswer }: { readonly signal: AbortSignal; onAnswer(answer: Answered): void },
): Promise<void> {
  const headers = headersIn(typed.headers);
  const asked = askedOf(typed);
  const subscribes = typed.kind === 'subscription';
  const once = () => run(asked, headers, { signal, subscribes, onAnswer });
  let end = await once();
  // A server that was stopped is asked again when it is back. It may still refuse connections then.
  while (end === 'cut') {
    await untilBack(signal);
    end = await once().catch((error: unknown) => cutBy(error, signal));
  }
}

/** `fetch` throws a TypeError when there is no connection. */
function cutBy(error: unknown, signal: AbortSignal): 'cut' {
  if (signal.aborted || !(error instanceof TypeError)) throw error;
  return 'cut';
}

function withAnswer(last: Outcome, answer: Answered): Outcome {
  const answers = [...last.answers, answer];
  const over = Math.max(0, answers.length - KEPT);
  return { ...last, answers: answers.slice(over), dropped: last.dropped + over };
}

/** Why an operation has no answer: what was typed is wrong, or the server refused it. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error && error.name === 'Error' ? error.message : failureText(error);
