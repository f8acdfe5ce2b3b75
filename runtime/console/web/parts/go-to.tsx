import { signal } from '@preact/signals';
import { useEffect, useId, useState } from 'preact/hooks';
import { navigate } from '../address.ts';
import { t } from '../messages.ts';
import type { Description } from '../description.ts';
import { Button } from './button.tsx';
import { distance, type Goal, useGoals } from './goals.ts';
import { SearchIcon } from './icons.tsx';
import { useModal } from './use-modal.ts';
import { leave } from './dialog.tsx';

/** Whether the dialog `Go to` is open. */
export const goToShown = signal(false);

/** Opens the dialog `Go to`, as Ctrl+K does. */
export function GoToButton() {
  return (
    <Button
      class="go-to-button"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K"
      onClick={() => (goToShown.value = true)}
    >
      <SearchIcon />
      <span>{t('Go to')}</span>
      <kbd aria-hidden="true">Ctrl K</kbd>
    </Button>
  );
}

/** The dialog `Go to`: pages, types, users and apps by their names. The frame has it once. */
export function GoTo({ known }: { known: Description }) {
  return goToShown.value ? <GoToDialog known={known} /> : null;
}

function GoToDialog({ known }: { known: Description }) {
  const dialog = useModal();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [entered, setEntered] = useState(false);
  const { goals, loading } = useGoals(known, text);
  const close = () => (goToShown.value = false);
  const go = (goal: Goal | undefined) => {
    if (!goal) return;
    close();
    navigate(goal.path);
  };
  // A result that is still on its way can be the exact one.
  const waits = loading && !(goals[at] && distance(text.trim().toLowerCase(), goals[at]) === 0);
  const enter = () => (waits ? setEntered(true) : go(goals[at]));
  useEffect(() => {
    if (entered && !loading) go(goals[at]);
  }, [entered, loading]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') enter();
    else if (event.key === 'ArrowDown') setAt((at + 1) % Math.max(goals.length, 1));
    else if (event.key === 'ArrowUp') setAt((at - 1 + goals.length) % Math.max(goals.length, 1));
    else return;
    event.preventDefault();
  };
  const optionId = (index: number) => `${id}-${index}`;
  useEffect(() => {
    document.getElementById(optionId(at))?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={t('Go to')}
      onCancel={(event) => leave(event, close)}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="palette-box" onKeyDown={onKeyDown}>
        <div class="palette-search">
          <SearchIcon />
          <input
            role="combobox"
            aria-label={t('Go to')}
            aria-expanded={goals.length > 0}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={goals[at] ? optionId(at) : undefined}
            autocomplete="off"
            spellcheck={false}
            placeholder={t('A page, a type, a user or an app')}
            value={text}
            onInput={(event) => (setText(event.currentTarget.value), setAt(0), setEntered(false))}
          />
        </div>
        <ul id={`${id}-list`} role="listbox" aria-label={t('Go to')} aria-busy={loading}>
          {goals.map((goal, index) => (
            <li
              key={`${goal.kind} ${goal.path}`}
              id={optionId(index)}
              role="option"
              aria-selected={index === at}
              onClick={() => go(goal)}
            >
              <span>{goal.name}</span>
              <span class="quiet">{t(goal.kind)}</span>
            </li>
          ))}
        </ul>
        {goals.length === 0 && (
          <p class="quiet palette-none" role="status">
            {loading ? t('Searching') : t('Nothing found')}
          </p>
        )}
      </div>
    </dialog>
  );
}
