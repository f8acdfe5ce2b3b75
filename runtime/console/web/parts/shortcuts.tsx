import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../messages.ts';
import { Dialog } from './dialog.tsx';
import { goToShown } from './go-to.tsx';

/** Whether the dialog `Keyboard shortcuts` is open. */
export const shortcutsShown = signal(false);

/** The keys of every page, and those of the data grid and the query editor. */
const SHORTCUTS = [
  [['Ctrl', 'K'], 'Go to a page, a type, a user or an app'],
  [['/'], 'Search on this page'],
  [['?'], 'Show these shortcuts'],
  [['Esc'], 'Close a dialog or a menu, drop an edit'],
  [['Enter'], 'Edit a cell; then keep the edit'],
  [['F2'], 'Edit a cell'],
  [['Ctrl', 'Enter'], 'Run an operation'],
] as const;

/** The dialog `Keyboard shortcuts`, and the keys that work on every page. */
export function Shortcuts() {
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  if (!shortcutsShown.value) return null;
  return (
    <Dialog title={t('Keyboard shortcuts')} close={() => (shortcutsShown.value = false)}>
      <dl class="shortcuts">
        {SHORTCUTS.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/**
 * Handles shortcuts. In a control that takes text, a key that types a character is not a shortcut.
 */
function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  const { key } = event;
  if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') {
    event.preventDefault();
    if (!document.querySelector('dialog[open]')) goToShown.value = true;
    return;
  }
  if (event.ctrlKey || event.metaKey || isTyping(event) || document.querySelector('dialog[open]'))
    return;
  if (key === '?') shortcutsShown.value = true;
  else if (key === '/') goToSearch();
  else return;
  event.preventDefault();
}

/** The target of an event from a shadow root, as the query editor has one, is only its host. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, select, textarea, [role="textbox"]');
}

/** Moves the focus to the page's search, if it has one. */
function goToSearch(): void {
  const box = document.querySelector<HTMLInputElement>('main [data-search], main [type="search"]');
  box?.focus();
  box?.select();
}
