import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Question } from '../../own-pages.ts';
import { t } from '../messages.ts';
import { leave } from './dialog.tsx';
import { useModal } from './use-modal.ts';

interface ConfirmProps extends Question {
  /** A choice about what is lost. */
  readonly children?: ComponentChildren;
  confirm(): void;
  cancel(): void;
}

/**
 * A dialog before something is deleted or ended. The focus is on `Cancel`, and Escape means
 * `Cancel`.
 */
export function Confirm({ text, action, typed, children, confirm: go, cancel }: ConfirmProps) {
  const dialog = useModal();
  const id = useId();
  const [name, setName] = useState('');
  const ready = typed === undefined || name === typed;
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
      {children}
      {typed !== undefined && (
        <TypedName name={typed} change={setName} enter={() => ready && go()} />
      )}
      <div class="buttons end">
        <button type="button" autofocus onClick={cancel}>
          {t('Cancel')}
        </button>
        <button type="button" class="danger" disabled={!ready} onClick={go}>
          {action}
        </button>
      </div>
    </dialog>
  );
}

interface TypedNameProps {
  readonly name: string;
  change(name: string): void;
  enter(): void;
}

function TypedName({ name, change, enter }: TypedNameProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{t('Type {name} to confirm', { name })}</label>
      <input
        id={id}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && enter()}
      />
    </div>
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
