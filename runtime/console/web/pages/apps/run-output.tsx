import { useEffect, useState } from 'preact/hooks';
import { callForText } from '../../call.ts';
import { t } from '../../messages.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/page.tsx';
import { failureText } from '../../parts/use-call.ts';
import type { Run } from './types.ts';

interface RunOutputProps {
  /** The address of the app's runs. */
  readonly path: string;
  readonly run: Run;
  close(): void;
}

/** What a run has printed. It is read again while the run goes on, and once when it has ended. */
export function RunOutput({ path, run, close }: RunOutputProps) {
  const { text, error, again } = useOutput(`${path}/${run.id}/logs`, run.status);
  return (
    <Dialog title={t('Output')} size="wide" close={close}>
      <p>
        <Command of={run.command} />
      </p>
      {error !== null && <Failure error={error} again={again} />}
      {text !== null && text !== '' && <pre tabIndex={0}>{text}</pre>}
      {text === '' && <p class="quiet">{t('It has printed nothing.')}</p>}
    </Dialog>
  );
}

/** Milliseconds between two readings of a run that goes on. */
const EVERY = 1000;

function useOutput(path: string, status: Run['status']) {
  const [round, setRound] = useState(0);
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const again = () => setRound((last) => last + 1);
  useEffect(() => {
    let left = false;
    callForText(path, 'text/plain').then(
      (printed) => void (left || setText(printed)),
      (failure: unknown) => void (left || setError(failureText(failure))),
    );
    const timer = status === 'running' ? setTimeout(again, EVERY) : undefined;
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [path, status, round]);
  return { text, error, again: () => (setError(null), again()) };
}

/** The words of a command in one line. */
export const Command = ({ of }: { of: readonly string[] }) => <code>{of.join(' ')}</code>;
