import { useState } from 'preact/hooks';
import { t } from '../messages.ts';
import { describe, type Description, signIn } from '../session.ts';
import { useTitle } from '../parts/title.ts';

type Kind = 'user' | 'host';

/** The form that opens the console: for users whose role may enter, and for the operator. */
export function SignInPage({
  known,
  refused: first,
}: {
  known: Description;
  refused: string | null;
}) {
  useTitle(t('Sign in'));
  const { host, users } = known.sign_in;
  const [kind, setKind] = useState<Kind>(users ? 'user' : 'host');
  const [refused, setRefused] = useState<string | null>(first);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setRefused(await signIn(credentialsOf(form, kind)));
    await describe();
    setBusy(false);
  };
  return (
    <main class="alone">
      <h1>{t('Sign in')}</h1>
      <p class="quiet">{known.name}</p>
      {!host && !users ? (
        <p>
          {t(
            'Nobody can sign in yet: set HOST_PASSWORD, or give a role of auth.roles to console.roles.',
          )}
        </p>
      ) : (
        <form onSubmit={(event) => void submit(event)}>
          {host && users && <KindChoice kind={kind} choose={setKind} />}
          {kind === 'user' && (
            <label>
              {t('Email')}
              <input name="email" type="email" autocomplete="username" required />
            </label>
          )}
          <label>
            {t('Password')}
            <input name="password" type="password" autocomplete="current-password" required />
          </label>
          {refused !== null && <p role="alert">{refused}</p>}
          <button type="submit" class="main" disabled={busy}>
            {t('Sign in')}
          </button>
        </form>
      )}
    </main>
  );
}

function KindChoice({ kind, choose }: { kind: Kind; choose: (kind: Kind) => void }) {
  const option = (value: Kind, label: string) => (
    <label class="choice">
      <input type="radio" name="kind" checked={kind === value} onChange={() => choose(value)} />
      {t(label)}
    </label>
  );
  return (
    <fieldset>
      <legend>{t('Sign in as')}</legend>
      {option('user', 'User')}
      {option('host', 'Operator')}
    </fieldset>
  );
}

function credentialsOf(form: FormData, kind: Kind): Record<string, string> {
  const password = String(form.get('password') ?? '');
  return kind === 'host' ? { password } : { email: String(form.get('email') ?? ''), password };
}
