import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Question } from '../../own-pages.ts';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import { leave, useSubmit, Refusal, useModal } from './dialog.tsx';
import { Field } from './field.tsx';

interface ConfirmProps extends Question {
  /** Fields about what is lost. */
  readonly children?: ComponentChildren;
  /** Called with the form. An error that it throws is shown. */
  confirm(form: FormData): Promise<unknown> | void;
  cancel(): void;
}

/**
 * A dialog before something is deleted or ended. The focus is on `Cancel`, and Escape means
 * `Cancel`.
 */
export function Confirm({ text, action, typed, children, confirm: go, cancel }: ConfirmProps) {
  const dialog = useModal();
  const id = useId();
  const [name, setName] = useState<string>();
  const { refused, busy, send } = useSubmit(go);
  return (
    <dialog
      ref={dialog}
      class="small"
      role="alertdialog"
      aria-label={action}
      aria-describedby={id}
      onCancel={(event) => leave(event, cancel)}
    >
      <h2>{action}</h2>
      <p id={id} class="lost">
        {text}
      </p>
      <form onSubmit={send} aria-busy={busy}>
        {children}
        {typed !== undefined && (
          <Field
            label={t('Type {name} to confirm', { name: typed })}
            name="typed"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
        <Refusal text={refused} />
        <div class="buttons end">
          <Button autofocus onClick={cancel}>
            {t('Cancel')}
          </Button>
          <button type="submit" class="danger" disabled={busy || name !== typed}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

interface OpenQuestion extends Question {
  answer(yes: boolean): void;
}

const asked = signal<OpenQuestion | null>(null);

/**
 * Asks before something is deleted or ended. It can be called from any code.
 *
 * @example
 * const text = t('{n} sessions of {email} end', { n, email });
 * if (await confirm({ text, action: t('End all sessions') })) await attempt(…);
 */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((answer) => {
    asked.value = { ...question, answer };
  });
}

/** The component that shows the questions. The frame contains it once. */
export function Confirmations() {
  const question = asked.value;
  if (!question) return null;
  const answer = (yes: boolean) => {
    asked.value = null;
    question.answer(yes);
  };
  const { text, action, typed } = question;
  return (
    <Confirm
      key={text}
      {...{ text, action, ...(typed !== undefined && { typed }) }}
      confirm={() => answer(true)}
      cancel={() => answer(false)}
    />
  );
}
