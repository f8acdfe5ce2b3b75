import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, textIn, wordsIn } from '../../parts/field.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { ADMIN, type ApiKey, type User } from './shapes.ts';

/** A key that was just made: the only answer that contains it. */
export interface NewKey {
  readonly name: string;
  readonly key: string;
  readonly scopes: readonly string[];
}

const LIVES = [
  ['', 'Never'],
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['365d', '1 year'],
] as const;

interface NewKeyProps {
  close(): void;
  created(made: NewKey): void;
  /** The user for whom it acts; a key of the server without one. */
  readonly user?: User;
}

/** Makes a key, for a program of the server's or for a user. */
export function NewKeyDialog({ close, created, user }: NewKeyProps) {
  const make = async (form: FormData) => {
    const expires_in = String(form.get('expires_in') ?? '');
    const limit = String(form.get('limit_per_min') ?? '');
    const body = {
      name: textIn(form, 'name'),
      scopes: wordsIn(form, 'scopes'),
      ...(expires_in && { expires_in }),
      ...(limit && { limit_per_min: Number(limit) }),
      ...(user && { user_id: user.id }),
    };
    created(await call<NewKey>('POST', `${ADMIN}/api-keys`, body));
  };
  return (
    <FormDialog title={t('New API key')} action={t('Create API key')} close={close} submit={make}>
      {user && <p class="quiet">{t('It acts for {email}.', { email: user.email })}</p>}
      <Field label={t('Name')} name="name" required autofocus autocomplete="off" maxLength={256} />
      <ScopesField />
      <Field
        label={t('Expires')}
        name="expires_in"
        options={LIVES.map(([value, text]) => [value, t(text)] as const)}
      />
      <Field
        label={t('Requests per minute')}
        name="limit_per_min"
        type="number"
        min={1}
        max={1_000_000}
        placeholder="1200"
      />
    </FormDialog>
  );
}

const ScopesField = ({ value = '' }: { value?: string }) => (
  <Field
    label={t('Scopes')}
    name="scopes"
    required
    autocomplete="off"
    spellcheck={false}
    defaultValue={value}
    hint={t('Such as posts:read, posts:*, *:read; with spaces or commas between them.')}
  />
);

interface OfKey {
  readonly of: ApiKey;
  close(): void;
}

/** Changes what a key may do. */
export function ScopesDialog({ of, close, changed }: OfKey & { changed(): void }) {
  const change = async (form: FormData) => {
    await call('PATCH', `${ADMIN}/api-keys/${of.id}`, { scopes: wordsIn(form, 'scopes') });
    return t('Scopes of {name} changed', { name: of.name });
  };
  return (
    <FormDialog
      title={t('Scopes of {name}', { name: of.name })}
      action={t('Change scopes')}
      {...{ close, submit: change, saved: changed }}
    >
      <ScopesField value={of.scopes.join(' ')} />
    </FormDialog>
  );
}

const OVERLAPS = [
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['', 'Not at all'],
] as const;

/** Replaces a key by a new one. During the overlap programs can use both. */
export function RotateDialog({ of, close, created }: OfKey & { created(made: NewKey): void }) {
  const rotate = async (form: FormData) => {
    const overlap = String(form.get('overlap') ?? '');
    const body = overlap ? { overlap } : {};
    created(await call<NewKey>('POST', `${ADMIN}/api-keys/${of.id}/rotate`, body));
  };
  return (
    <FormDialog
      title={t('Rotate {name}', { name: of.name })}
      action={t('Rotate')}
      close={close}
      submit={rotate}
    >
      <Field
        label={t('The old key keeps working for')}
        name="overlap"
        options={OVERLAPS.map(([value, text]) => [value, t(text)] as const)}
      />
    </FormDialog>
  );
}

/** Shows a new key, once. */
export const KeyCreated = ({ made, close }: { made: NewKey; close(): void }) => (
  <ShownOnce
    title={t('API key created')}
    about={t('It is shown only once: copy it now.')}
    label={made.name || t('API key')}
    secret={made.key}
    close={close}
  >
    {t('Programs send it in the header X-API-Key.')}
  </ShownOnce>
);
