import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { base, mayLeave } from '../address.ts';
import { t } from '../messages.ts';
import type { Description } from '../description.ts';
import { signOut } from '../session.ts';
import { density, theme, switchDensity, switchTheme } from '../theme.ts';
import { Button } from './button.tsx';
import { ChevronIcon } from './icons.tsx';
import { notifyFailure } from './notices.tsx';
import { shortcutsShown } from './shortcuts.tsx';
import { useMenu } from './use-menu.ts';

/** The button `Account`, with what concerns the caller and this browser. */
export function AccountMenu({ known }: { known: Description }) {
  const { open, setOpen, close, root, button, onKeyDown } = useMenu();
  const { caller } = known;
  const name = caller?.kind === 'host' ? t('Operator') : (caller?.name ?? caller?.email ?? '');
  return (
    <div class="account" ref={root} onKeyDown={onKeyDown}>
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
    <Button
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
    </Button>
  );
}
