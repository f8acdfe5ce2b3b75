import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../messages.ts';
import { answerStep, type ReauthenticationStep } from '../reauthentication.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { askPasskey, canUsePasskeys } from './passkey.ts';

/** Sends the input of a step. @returns the next step, or null when it was the last. */
export function sendStep(
  { ticket }: ReauthenticationStep,
  form: FormData,
): Promise<ReauthenticationStep | null> {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const recovery_code = text('recovery_code');
  return answerStep({ ticket, ...(recovery_code ? { recovery_code } : { code: text('code') }) });
}

/** The fields of a step: a code of the app or of a mail, a recovery code, or a passkey. */
export function StepFields({
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
      {recovers ? <RecoveryField /> : <CodeField mailed={step.next === 'email_code'} />}
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

/** Asks for a passkey, where the browser can, and says why there is none. */
export function PasskeyButton({ use }: { use(): Promise<void> }) {
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

const CodeField = ({ mailed }: { mailed: boolean }) => (
  <Field
    label={t('Code')}
    name="code"
    hint={mailed ? t('Six digits, from the mail') : t('Six digits, from your authenticator app')}
    autocomplete="one-time-code"
    inputMode="numeric"
    required
  />
);

const RecoveryField = () => (
  <Field label={t('Recovery code')} name="recovery_code" autocomplete="off" required />
);
