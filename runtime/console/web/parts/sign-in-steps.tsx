import { useEffect, useState } from 'preact/hooks';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import { textIn, Field } from './field.tsx';
import { signIn, type SignInAnswer, type SignInStep } from '../session.ts';
import { Refusal } from './dialog.tsx';
import { canUsePasskeys, askPasskey } from './passkey.ts';

/** Sends a step, and shows the next or the refusal. */
export type Send = (path: string, body: object) => Promise<SignInAnswer>;

interface StepProps {
  readonly step: SignInStep;
  readonly busy: boolean;
  readonly refused: string | null;
  readonly send: Send;
  /** Returns to the first factor, for example when the ticket is no longer valid. */
  back(): void;
  /** Goes on after the recovery codes were read. */
  finish(): Promise<void>;
}

/** The steps after the first factor. */
export function SignInSteps(props: StepProps) {
  const { next } = props.step;
  if (next === 'second_factor') return <SecondFactor {...props} />;
  if (next === 'enroll_second_factor') return <EnrolTotp {...props} />;
  if (next === 'change_password') return <ChangePassword {...props} />;
  return <MailedCode {...props} />;
}

interface StepFormProps extends Pick<StepProps, 'busy' | 'refused' | 'back'> {
  readonly action: string;
  submit(form: FormData): void;
  readonly children?: preact.ComponentChildren;
}

function StepForm({ busy, refused, back, action, submit, children }: StepFormProps) {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    submit(new FormData(event.currentTarget as HTMLFormElement));
  };
  return (
    <form onSubmit={onSubmit} aria-busy={busy}>
      {children}
      <Refusal text={refused} />
      <button type="submit" class="main" disabled={busy}>
        {action}
      </button>
      <Button class="plain" onClick={back}>
        {t('Back')}
      </Button>
    </form>
  );
}

/** The field of a code, of the authenticator app unless `hint` says another. */
export function CodeField({ hint = t('Six digits, from your authenticator app') }) {
  return (
    <Field
      label={t('Code')}
      name="code"
      hint={hint}
      required
      autofocus
      inputMode="numeric"
      autocomplete="one-time-code"
      spellcheck={false}
    />
  );
}

export const RecoveryField = () => (
  <Field label={t('Recovery code')} name="recovery_code" required autocomplete="off" />
);

function SecondFactor(props: StepProps) {
  const { step, send } = props;
  const methods = step.methods ?? ['totp'];
  const [recovery, setRecovery] = useState(!methods.includes('totp'));
  const { ticket } = step;
  const submit = (form: FormData) => {
    const given = textIn(form, recovery ? 'recovery_code' : 'code');
    const remember_device = form.get('remember') === 'on';
    void send('/api/auth/second-factor', {
      ticket,
      ...(recovery ? { recovery_code: given } : { code: given.replaceAll(/\s/g, '') }),
      ...(remember_device && { remember_device }),
    });
  };
  const withPasskey = async () => {
    const credential = await askPasskey('/api/auth/second-factor/options', { ticket }).catch(
      () => null,
    );
    if (credential) await send('/api/auth/second-factor', { ticket, credential });
  };
  return (
    <StepForm {...props} action={t('Sign in')} submit={submit}>
      {recovery ? <RecoveryField /> : <CodeField />}
      <label class="choice">
        <input type="checkbox" name="remember" />
        {t('Remember this device')}
      </label>
      {methods.includes('totp') && methods.includes('recovery_code') && (
        <Button class="plain" onClick={() => setRecovery(!recovery)}>
          {recovery ? t('Use the authenticator app') : t('Use a recovery code')}
        </Button>
      )}
      {methods.includes('passkey') && canUsePasskeys && (
        <Button onClick={withPasskey}>{t('Use a passkey')}</Button>
      )}
    </StepForm>
  );
}

function MailedCode(props: StepProps) {
  const { step, send } = props;
  const path =
    step.next === 'mailed' ? '/api/auth/email-sign-in/complete' : '/api/auth/second-factor';
  const submit = (form: FormData) =>
    void send(path, { ticket: step.ticket, code: textIn(form, 'code') });
  return (
    <StepForm {...props} action={t('Sign in')} submit={submit}>
      <CodeField hint={t('Six digits, from the mail that you get if the account exists')} />
    </StepForm>
  );
}

function ChangePassword(props: StepProps) {
  const submit = (form: FormData) =>
    void props.send('/api/auth/change-password', {
      ticket: props.step.ticket,
      new_password: String(form.get('new_password') ?? ''),
    });
  return (
    <StepForm {...props} action={t('Change password')} submit={submit}>
      <Field
        label={t('New password')}
        name="new_password"
        type="password"
        autocomplete="new-password"
        hint={t('Your password has to be changed before you go on.')}
        required
        autofocus
      />
    </StepForm>
  );
}

interface Totp {
  readonly secret: string;
  readonly qr: string;
}

function EnrolTotp(props: StepProps) {
  const { step, send } = props;
  const { ticket } = step;
  const [totp, setTotp] = useState<Totp | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  useEffect(() => {
    void signIn('/api/auth/totp', { ticket }).then((answer) => {
      if ('done' in answer) setTotp(answer.answer as Totp);
      else setFailed('refused' in answer ? answer.refused : null);
    });
  }, [ticket]);
  const submit = async (form: FormData) => {
    const answer = await send('/api/auth/totp/confirm', { ticket, code: textIn(form, 'code') });
    if ('done' in answer) setCodes(answer.answer.recovery_codes);
  };
  if (codes) return <RecoveryCodes codes={codes} go={() => void props.finish()} />;
  return (
    <StepForm
      {...props}
      refused={props.refused ?? failed}
      action={t('Confirm')}
      submit={(form) => void submit(form)}
    >
      <p>{t('Your role needs a second factor. Scan the picture with an authenticator app.')}</p>
      {totp && (
        <>
          <img class="qr" src={totp.qr} alt={t('QR code of the secret below')} />
          <p>
            <code class="codes">{totp.secret}</code>
          </p>
        </>
      )}
      <CodeField />
    </StepForm>
  );
}

function RecoveryCodes({ codes, go }: { codes: readonly string[]; go: () => void }) {
  return (
    <div class="answer">
      <p>{t('Keep these recovery codes. Each signs you in once without the app.')}</p>
      <pre class="codes" tabIndex={0}>
        {codes.join('\n')}
      </pre>
      <Button class="main" onClick={go}>
        {t('Continue')}
      </Button>
    </div>
  );
}
