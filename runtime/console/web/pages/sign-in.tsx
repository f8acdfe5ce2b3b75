import { useEffect } from 'preact/hooks';
import { t } from '../messages.ts';
import { Refusal } from '../parts/dialog.tsx';
import { SignInForm } from '../parts/sign-in-form.tsx';
import { useTitle } from '../parts/page.tsx';
import type { Description } from '../description.ts';
import { describe, type SignInAnswer } from '../session.ts';

interface SignInPageProps {
  readonly known: Description;
  /** The server's answer to the link, or to the provider's code, in the address. */
  readonly first: SignInAnswer | null;
}

/** The page that opens the console: for users whose role may enter, and for the operator. */
export function SignInPage({ known, first }: SignInPageProps) {
  useTitle(t('Sign in'));
  const { host, users } = known.sign_in;
  useEffect(
    () => document.querySelector<HTMLElement>('.alone input:not([type=radio])')?.focus(),
    [],
  );
  return (
    <main class="alone">
      <div class="alone-head">
        <p class="quiet">{known.name}</p>
        <h1>{t('Sign in')}</h1>
      </div>
      {host || users ? (
        <SignInForm known={known} first={first} done={describe} />
      ) : (
        <NoPassword first={first} />
      )}
    </main>
  );
}

function NoPassword({ first }: Pick<SignInPageProps, 'first'>) {
  return (
    <>
      <Refusal text={first && 'refused' in first ? first.refused : null} />
      <p>{t('No user can sign in with a password yet. On the machine of the server, run')}</p>
      <pre tabIndex={0}>npx generator console</pre>
      <p class="quiet">
        {t(
          'It prints a link that signs you in. To sign in here, set HOST_PASSWORD, or name a role of auth.roles in console.roles.',
        )}
      </p>
    </>
  );
}
