import { useEffect, useRef } from 'preact/hooks';
import { t } from '../messages.ts';

interface ConfirmProps {
  /** What would be lost, by name and number. */
  readonly text: string;
  /** The verb of the button. */
  readonly action: string;
  confirm(): void;
  cancel(): void;
}

/** Asks before something is lost. The focus is on `Cancel`, and Escape means it. */
export function Confirm({ text, action, confirm, cancel }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} role="alertdialog" aria-label={action} onCancel={cancel}>
      <p>{text}</p>
      <div class="buttons">
        <button type="button" autofocus onClick={cancel}>
          {t('Cancel')}
        </button>
        <button type="button" class="danger" onClick={confirm}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
