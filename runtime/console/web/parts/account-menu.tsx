import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { base, mayLeave } from '../address.ts';
import { t } from '../messages.ts';
import { type Description, signOut } from '../session.ts';
import { density, theme, switchDensity, switchTheme } from '../theme.ts';
import { ChevronIcon } from './icons.tsx';
import { notifyFailure } from './notices.tsx';
import { shortcutsShown } from './shortcuts.tsx';

/** The button `Account`, with what concerns the caller and this browser. */
export function AccountMenu({ known }: { known: Description }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    itemsOf(root.current)[0]?.focus();
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const { caller } = known;
  const name = caller?.kind === 'host' ? t('Operator') : (caller?.name ?? caller?.email ?? '');
  return (
    <div class="account" ref={root} onKeyDown={(event) => open && onMenuKey(event, close, setOpen)}>
      <button
        type="button"
        ref={button}
        class="plain account-button"
        aria-label={t('Account')}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <span class="initial" aria-hidden="true">
          {name.slice(0, 1).toUpperCase()}
        </span>
        <ChevronIcon />
      </button>
      {open && (
        <div class="menu">
          <div class="who">
            <p>{name}</p>
            <p class="quiet">{caller?.role ?? caller?.email ?? ''}</p>
          </div>
          <div role="menu" aria-label={t('Account')}>
            <MenuItem act={switchTheme} value={t(theme.value)}>
              {t('Theme')}
            </MenuItem>
            <MenuItem act={switchDensity} value={t(density.value)}>
              {t('Density')}
            </MenuItem>
            <MenuItem act={() => (close(), (shortcutsShown.value = true))} keys="?">
              {t('Keyboard shortcuts')}
            </MenuItem>
            <div role="separator" />
            <MenuItem act={() => (close(), void leave())}>{t('Sign out')}</MenuItem>
          </div>
        </div>
      )}
    </div>
  );
}

/** The page stays while the server has not ended the session, so that it is not taken for ended. */
async function leave(): Promise<void> {
  if (!(await mayLeave(`${base}/`))) return;
  const failed = await signOut();
  if (failed !== null) notifyFailure(t('You are still signed in: {error}', { error: failed }));
}

interface MenuItemProps {
  act(): void;
  /** The present value. It describes the item and is not a part of its name. */
  readonly value?: string;
  /** The keyboard shortcut of the item. */
  readonly keys?: string;
  readonly children: ComponentChildren;
}

function MenuItem({ act, value, keys, children }: MenuItemProps) {
  const id = useId();
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      aria-labelledby={`${id}-name`}
      aria-describedby={value === undefined ? undefined : `${id}-value`}
      onClick={act}
    >
      <span id={`${id}-name`}>{children}</span>
      {value !== undefined && (
        <span id={`${id}-value`} class="quiet">
          {value}
        </span>
      )}
      {keys !== undefined && <kbd aria-hidden="true">{keys}</kbd>}
    </button>
  );
}

const itemsOf = (root: Element | null) => [
  ...(root?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? []),
];

/** Keys of a menu, as the ARIA Authoring Practices have them. */
function onMenuKey(
  event: KeyboardEvent,
  close: () => void,
  setOpen: (open: boolean) => void,
): void {
  if (event.key === 'Tab') return setOpen(false);
  if (event.key === 'Escape') return close();
  const items = itemsOf(event.currentTarget as Element);
  const to = nextItem(event.key, items);
  if (!to) return;
  event.preventDefault();
  to.focus();
}

function nextItem(key: string, items: readonly HTMLElement[]): HTMLElement | undefined {
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (key === 'ArrowDown') return items[(at + 1) % items.length];
  if (key === 'ArrowUp') return items[(at - 1 + items.length) % items.length];
  if (key === 'Home') return items[0];
  if (key === 'End') return items.at(-1);
  if (key.length !== 1 || key === ' ') return undefined;
  const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return after.find((item) => item.textContent?.toLowerCase().startsWith(key.toLowerCase()));
}
