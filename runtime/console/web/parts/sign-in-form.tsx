import { useState } from 'preact/hooks';
import { t } from '../messages.ts';
import type { Description } from '../description.ts';
import { signIn, type SignInAnswer, type SignInStep } from '../session.ts';
import { Button } from './button.tsx';
import { askPasskey, canUsePasskeys } from './passkey.ts';
import { type Send, SignInSteps } from './sign-in-steps.tsx';
import { ProviderLinks } from './provider-links.tsx';
import { Refusal } from './dialog.tsx';

type Kind = 'user' | 'host';

interface SignInFormProps {
  readonly known: Description;
  /** The server's answer to a link or to a provider's code. */
  readonly first?: SignInAnswer | null;
  /** The user who has to sign in again; null for any user. */
  readonly only?: Description['caller'];
  done(): Promise<void>;
}

/** The form for signing in, with the steps after the password. */
export function SignInForm({ known, first = null, only = null, done }: SignInFormProps) {
  const [step, setStep] = useState(first && 'step' in first ? first.step : null);
  const [refused, setRefused] = useState(first && 'refused' in first ? first.refused : null);
  const [busy, setBusy] = useState(false);
  const send: Send = async (path, body) => {
    setBusy(true);
    const answer = await signIn(path, body);
    setRefused('refused' in answer ? answer.refused : null);
    if ('step' in answer) setStep(answer.step);
    const complete = 'done' in answer && answer.answer.recovery_codes === undefined;
    if (complete && (answer.answer.accessToken || answer.answer.login)) await done();
    setBusy(false);
    return answer;
  };
  const attempt = { busy, refused, send, fail: setRefused };
  if (step)
    return <SignInSteps {...attempt} step={step} back={() => setStep(null)} finish={done} />;
  return <FirstFactor {...attempt} known={known} only={only} mailed={setStep} />;
}

interface FirstFactorProps {
  readonly known: Description;
  readonly only: Description['caller'];
  readonly busy: boolean;
  readonly refused: string | null;
  readonly send: Send;
  fail(text: string): void;
  mailed(step: SignInStep): void;
}

function FirstFactor({ known, only, busy, refused, send, fail, mailed }: FirstFactorProps) {
  const { host, users } = known.sign_in;
  const [kind, setKind] = useState<Kind>(only?.kind ?? (users ? 'user' : 'host'));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void send('/api/auth/login', credentialsOf(form, kind));
  };
  return (
    <>
      <form onSubmit={submit} aria-busy={busy}>
        {host && users && only === null && <KindChoice kind={kind} choose={setKind} />}
        {kind === 'user' && (
          <label>
            {t('Email')}
            <input
              name="email"
              type="email"
              autocomplete="username"
              required
              defaultValue={only?.email ?? ''}
            />
          </label>
        )}
        <label>
          {t('Password')}
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        {kind === 'user' && known.sign_in.forgot !== undefined && (
          <a href={known.sign_in.forgot}>{t('Forgot your password?')}</a>
        )}
        {kind === 'host' && (
          <p class="hint">
            {t('HOST_PASSWORD of the server’s settings, in development in the file .env. Or run')}{' '}
            <code>npx generator console</code> {t('for a link.')}
          </p>
        )}
        <Refusal text={refused} />
        <button type="submit" class="main" disabled={busy}>
          {t('Sign in')}
        </button>
      </form>
      {kind === 'user' && <OtherWays {...{ known, only, send, fail, mailed }} />}
    </>
  );
}

type OtherWaysProps = Pick<FirstFactorProps, 'known' | 'only' | 'send' | 'fail' | 'mailed'>;

function OtherWays({ known, only, send, fail, mailed }: OtherWaysProps) {
  const { providers, email_code: byMail, passkeys } = known.sign_in;
  const withPasskey = async () => {
    const credential = await askPasskey('/api/auth/passkeys/login/options', {}).catch(() => null);
    if (credential) await send('/api/auth/passkeys/login', { credential });
    else fail(t('No passkey was used. Try again, or sign in with your password.'));
  };
  const withMail = async () => {
    const email = document.querySelector<HTMLInputElement>('input[name="email"]');
    if (!email?.reportValidity()) return;
    const answer = await send('/api/auth/email-sign-in', { email: email.value });
    if ('done' in answer) mailed({ next: 'mailed', ticket: answer.answer.ticket });
  };
  const hasPasskeys = passkeys !== false && canUsePasskeys;
  if (providers.length === 0 && !byMail && !hasPasskeys) return null;
  return (
    <div class="other-ways">
      <ProviderLinks names={providers} apart={only !== null} />
      {byMail && <Button onClick={withMail}>{t('Email me a code')}</Button>}
      {hasPasskeys && <Button onClick={withPasskey}>{t('Use a passkey')}</Button>}
    </div>
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
    <fieldset role="radiogroup">
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
