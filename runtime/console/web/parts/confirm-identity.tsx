import { useEffect, useState } from 'preact/hooks';
import { call } from '../call.ts';
import { t } from '../messages.ts';
import { reauthenticate, type ReauthenticationStep } from '../reauthentication.ts';
import { FormDialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { askPasskey } from './passkey.ts';
import { identityCheck } from './proof.ts';
import { PasskeyButton, StepFields, sendStep } from './step-fields.tsx';

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
