import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../messages.ts';
import { type Description, signOut } from '../session.ts';
import { theme, turnTheme } from '../theme.ts';

/** The button `Account`, with what concerns the caller and this browser. */
export function AccountMenu({ known }: { known: Description }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    root.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
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
  return (
    <div class="account" ref={root} onKeyDown={(event) => onMenuKey(event, close)}>
      <button
        type="button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {t('Account')}
      </button>
      {open && (
        <div class="menu">
          <p class="who">{caller?.kind === 'host' ? t('Operator') : (caller?.email ?? '')}</p>
          <div role="menu" aria-label={t('Account')}>
            <button type="button" role="menuitem" onClick={turnTheme}>
              {t('Theme')}: {t(theme.value)}
            </button>
            <button type="button" role="menuitem" onClick={() => void signOut()}>
              {t('Sign out')}
            </button>
          </div>
        </div>
      )}
    </div>
  );
}

function onMenuKey(event: KeyboardEvent, close: () => void): void {
  if (event.key === 'Escape') return close();
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const items = [
    ...(event.currentTarget as Element).querySelectorAll<HTMLElement>('[role="menuitem"]'),
  ];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  event.preventDefault();
  items[(at + (event.key === 'ArrowDown' ? 1 : -1) + items.length) % items.length]!.focus();
}
