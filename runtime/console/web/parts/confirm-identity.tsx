import { useEffect, useState, useRef } from 'preact/hooks';
import { call, errorOf, note } from '../call.ts';
import { t } from '../messages.ts';
import { FormDialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { askPasskey, canUsePasskeys } from './passkey.ts';
import { identityCheck } from './proof.ts';
import { CodeField, RecoveryField } from './sign-in-steps.tsx';
import { Button } from './button.tsx';
import { accessToken, adopt, post } from '../session.ts';

interface Security {
  readonly has_password: boolean;
  readonly passkeys: number;
}

/**
 * The dialogs in which callers prove who they are, before a call that needs it. The frame contains
 * them once.
 */
export function IdentityChecks() {
  const asked = identityCheck.value;
  return asked === null ? null : <ConfirmIdentity done={asked.answer} />;
}

/**
 * The dialog `Confirm it is you`: the password or a passkey, then the second factor; for an account
 * without a password the code of a mail. Then the call is sent again.
 */
function ConfirmIdentity({ done }: { done(proved: boolean): void }) {
  const [security, setSecurity] = useState<Security | null>(null);
  const [step, setStep] = useState<ReauthenticationStep | null>(null);
  useEffect(() => {
    call<Security>('GET', '/api/auth/security').then(setSecurity, () => setSecurity(WITH_PASSWORD));
  }, []);
  if (security === null) return null;
  const take = (left: ReauthenticationStep | null) => (left === null ? done(true) : setStep(left));
  const first = (form: FormData) =>
    reauthenticate(security.has_password ? { password: String(form.get('password')) } : {});
  const submit = async (form: FormData) =>
    take(await (step === null ? first(form) : sendStep(step, form)));
  const byPasskey = async () => {
    const credential = await askPasskey('/api/auth/reauthenticate/options', {});
    take(await reauthenticate({ credential }));
  };
  const isMailed = step === null && !security.has_password;
  return (
    <FormDialog
      title={t('Confirm it is you')}
      action={isMailed ? t('Send code') : t('Confirm')}
      close={() => done(false)}
      submit={submit}
    >
      <p class="quiet">{t('This needs a sign-in of the last five minutes.')}</p>
      {isMailed && <p>{t('A code is sent to your address.')}</p>}
      {step !== null && <StepFields step={step} answered={take} />}
      {step === null && security.has_password && <PasswordField />}
      {step === null && security.passkeys > 0 && <PasskeyButton use={byPasskey} />}
    </FormDialog>
  );
}

const WITH_PASSWORD: Security = { has_password: true, passkeys: 0 };

const PasswordField = () => (
  <Field
    label={t('Password')}
    name="password"
    type="password"
    autocomplete="current-password"
    required
    autofocus
  />
);

/** Sends the input of a step. @returns the next step, or null when it was the last. */
function sendStep(
  { ticket }: ReauthenticationStep,
  form: FormData,
): Promise<ReauthenticationStep | null> {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const recovery_code = text('recovery_code');
  return answerStep({ ticket, ...(recovery_code ? { recovery_code } : { code: text('code') }) });
}

/** The fields of a step: a code of the app or of a mail, a recovery code, or a passkey. */
function StepFields({
  step,
  answered,
}: {
  step: ReauthenticationStep;
  answered(left: ReauthenticationStep | null): void;
}) {
  const [recovers, setRecovers] = useState(false);
  const fields = useRef<HTMLDivElement>(null);
  const methods = step.methods ?? [];
  useEffect(() => fields.current?.querySelector('input')?.focus(), [step.next, recovers]);
  if (step.next !== 'second_factor' && step.next !== 'email_code')
    return <p role="alert">{t('Sign in again to go on: your account has a step left.')}</p>;
  const { ticket } = step;
  const byPasskey = async () => {
    const credential = await askPasskey('/api/auth/second-factor/options', { ticket });
    answered(await answerStep({ ticket, credential }));
  };
  return (
    <div class="identity-step" ref={fields}>
      {recovers ? <RecoveryField /> : <CodeField {...hintOf(step)} />}
      <div class="buttons">
        {methods.includes('recovery_code') && (
          <Button class="plain" onClick={() => setRecovers(!recovers)}>
            {recovers ? t('Use the authenticator app') : t('Use a recovery code')}
          </Button>
        )}
        {methods.includes('passkey') && <PasskeyButton use={byPasskey} />}
      </div>
    </div>
  );
}

const hintOf = ({ next }: ReauthenticationStep) =>
  next === 'email_code' ? { hint: t('Six digits, from the mail') } : {};

/** Asks for a passkey, where the browser can, and says why there is none. */
function PasskeyButton({ use }: { use(): Promise<void> }) {
  const [refused, setRefused] = useState<string | null>(null);
  if (!canUsePasskeys) return null;
  const start = () => {
    setRefused(null);
    use().catch((error: Error) => setRefused(error.message));
  };
  return (
    <div>
      <Button onClick={start}>{t('Use a passkey')}</Button>
      {refused !== null && (
        <p role="alert" class="field-error">
          {refused}
        </p>
      )}
    </div>
  );
}

/** The step that is left before a sign-in or a reauthentication is complete. */
interface ReauthenticationStep {
  readonly next: 'second_factor' | 'enroll_second_factor' | 'change_password' | 'email_code';
  readonly ticket: string;
  readonly methods?: readonly ('totp' | 'passkey' | 'recovery_code')[];
}

/**
 * Proves again who is signed in, by `password` or `credential`; `{}` asks for the code of a mail.
 * The session goes on under new tokens.
 *
 * @returns the step that is left, or null when it is complete
 * @throws ApiError when the server refuses
 */
const reauthenticate = (body: object): Promise<ReauthenticationStep | null> =>
  send('/api/auth/reauthenticate', body);

/** Answers a step with its `ticket`, and a code or a passkey. @throws ApiError */
const answerStep = (body: object): Promise<ReauthenticationStep | null> =>
  send('/api/auth/second-factor', body);

async function send(path: string, body: object): Promise<ReauthenticationStep | null> {
  note({ method: 'POST', path, body, headers: {} });
  const response = await post(path, body, { Authorization: `Bearer ${accessToken()}` });
  const answer = (await response.json().catch(() => ({}))) as Answer;
  if (!response.ok) throw errorOf(response, answer);
  if (answer.next !== undefined) return answer as ReauthenticationStep;
  if (answer.accessToken !== undefined) adopt({ ...answer, accessToken: answer.accessToken });
  return null;
}

interface Answer extends Partial<ReauthenticationStep> {
  readonly accessToken?: string;
  readonly id?: string | number;
  readonly exp?: number;
}
