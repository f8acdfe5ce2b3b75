import { useState } from 'preact/hooks';
import { t } from '../messages.ts';
import type { Description } from '../description.ts';
import { goOn, sessionOver, signOut } from '../session.ts';
import { Button } from './button.tsx';
import { Refusal } from './refusal.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { useModal } from './use-modal.ts';

/**
 * The dialog `Sign in again`: over the page, so that nothing typed is lost. The frame has it once.
 */
export function SignInAgain({ known }: { known: Description }) {
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
