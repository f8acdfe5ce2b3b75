import type { ComponentChildren, RefObject } from 'preact';
import { useId, useState, useEffect, useRef } from 'preact/hooks';
import { t } from '../messages.ts';
import { Button, CloseButton } from './button.tsx';
import { notify } from './notices.tsx';
import { failureText } from './use-call.ts';

interface DialogProps {
  /** Its name and heading. */
  readonly title: string;
  /** Called by Escape and by the button `Close`. */
  close(): void;
  readonly size?: 'small' | 'wide';
  readonly children?: ComponentChildren;
}

/**
 * A dialog over the page. It is there while it is rendered, and gives the focus back.
 *
 * @example {open && <Dialog title={t('As curl')} close={() => setOpen(false)}>…</Dialog>}
 */
export function Dialog({ title, close, size = 'small', children }: DialogProps) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      class={size}
      aria-labelledby={id}
      onCancel={(event) => leave(event, close)}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <CloseButton label={t('Close')} onClick={close} />
      </div>
      {children}
    </dialog>
  );
}

/**
 * The owner of the dialog removes the component, so the browser must not close the dialog itself.
 */
export function leave(event: Event, close: () => void): void {
  event.preventDefault();
  close();
}

type Submit = (form: FormData) => Promise<unknown> | string | void;

/** Sends a form, one time at once, and says why it was refused. */
export function useSubmit(submit: Submit) {
  const [refused, setRefused] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const sendForm = async (form: FormData) => {
    setBusy(true);
    setRefused(null);
    try {
      await submit(form);
    } catch (error) {
      setRefused(failureText(error));
    }
    setBusy(false);
  };
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (!busy) void sendForm(new FormData(event.currentTarget as HTMLFormElement));
  };
  return { refused, busy, send };
}

interface FormDialogProps extends DialogProps {
  /** The verb of the button. */
  readonly action: string;
  /**
   * Called with the form. A text that it returns is told, and the dialog is closed. An error that it
   * throws is shown, and the form keeps its values.
   */
  readonly submit: Submit;
  /** Called after the dialog was closed. */
  readonly saved?: () => void;
  readonly danger?: boolean;
}

/**
 * A dialog with a form, a button named by the verb, `Cancel`, and the server's error.
 *
 * @example
 * <FormDialog title={t('New app')} action={t('Create app')} close={close} submit={async (form) => {
 *   await call('POST', '/api/apps', { name: form.get('name') });
 *   return t('App created');
 * }}>
 *   <Field label={t('Name')} name="name" required />
 * </FormDialog>
 */
export function FormDialog(props: FormDialogProps) {
  const { title, action, close, size, danger, children } = props;
  const { refused, busy, send } = useSubmit(async (form) => {
    const done = await props.submit(form);
    if (typeof done !== 'string') return;
    notify(done);
    close();
    props.saved?.();
  });
  return (
    <Dialog title={title} close={close} {...(size && { size })}>
      <form onSubmit={send} aria-busy={busy}>
        {children}
        <Refusal text={refused} />
        <div class="buttons end">
          <Button onClick={close}>{t('Cancel')}</Button>
          <button type="submit" class={danger ? 'danger' : 'main'} disabled={busy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Shows the text of a refusal. */
export const Refusal = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p role="alert" class="refusal">
      {text}
    </p>
  );

/**
 * Opens a dialog over the page while its component is shown. Then the focus goes back to where it
 * was, or to the page when that control is gone.
 */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      // The browser restores the focus only for a dialog that is closed before it is removed.
      shown?.close();
      giveBack(opener);
    };
  }, []);
  return dialog;
}

function giveBack(opener: Element | null): void {
  const to = opener?.isConnected && opener !== document.body ? opener : mainOfPage();
  if (to instanceof HTMLElement) to.focus({ preventScroll: true });
}

const mainOfPage = () => document.querySelector('dialog[open], main');
