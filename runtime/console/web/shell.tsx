import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { base, path } from './address.ts';
import { t } from './messages.ts';
import { AccountMenu } from './parts/account-menu.tsx';
import { Button } from './parts/button.tsx';
import { Confirmations } from './parts/confirm.tsx';
import { IdentityChecks } from './parts/confirm-identity.tsx';
import { CurlButton } from './parts/curl.tsx';
import { GoTo, GoToButton } from './parts/go-to.tsx';
import { MenuIcon } from './parts/icons.tsx';
import { Navigation } from './parts/navigation.tsx';
import { Notices } from './parts/notices.tsx';
import { Shortcuts } from './parts/shortcuts.tsx';
import type { Description } from './description.ts';
import { goOn, sessionOver, signOut } from './session.ts';
import { Refusal, useModal } from './parts/dialog.tsx';
import { SignInForm } from './parts/sign-in-form.tsx';

/** The frame of every page: the navigation on one side, and above it what is about the caller. */
export function Shell({ known, children }: { known: Description; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [path.value]);
  return (
    <>
      <a
        class="skip"
        href="#content"
        onClick={(event) => (event.preventDefault(), main.current?.focus())}
      >
        {t('Skip to content')}
      </a>
      <header class="top">
        <div class="top-name">
          <Button
            class="menu-button icon"
            aria-label={t('Menu')}
            aria-expanded={open}
            aria-controls="navigation"
            onClick={() => setOpen(!open)}
          >
            <MenuIcon />
          </Button>
          <a class="brand" href={`${base}/`}>
            {known.name}
          </a>
          <span class={`badge ${known.environment}`}>{t(known.environment)}</span>
        </div>
        <div class="top-actions">
          <GoToButton />
          <span class="spread" />
          <CurlButton />
          <AccountMenu known={known} />
        </div>
      </header>
      <Navigation known={known} open={open} />
      <main id="content" tabIndex={-1} ref={main}>
        {children}
      </main>
      <Notices />
      <Confirmations />
      <IdentityChecks />
      <Shortcuts />
      <GoTo known={known} />
      <SignInAgain known={known} />
    </>
  );
}

/**
 * The dialog `Sign in again`: over the page, so that nothing typed is lost. The frame has it once.
 */
function SignInAgain({ known }: { known: Description }) {
  return sessionOver.value ? <AgainDialog known={known} /> : null;
}

function AgainDialog({ known }: { known: Description }) {
  const dialog = useModal();
  const [failed, setFailed] = useState<string | null>(null);
  return (
    <dialog
      ref={dialog}
      class="small"
      aria-label={t('Sign in again')}
      onCancel={(event) => event.preventDefault()}
    >
      <h2>{t('Sign in again')}</h2>
      <p class="quiet">{t('Your session is over. What you typed is still here.')}</p>
      <SignInForm known={known} only={known.caller} done={goOn} />
      <Refusal text={failed} />
      <Button class="plain" onClick={() => signOut().then(setFailed)}>
        {t('Leave the console')}
      </Button>
    </dialog>
  );
}
