import type { ComponentChildren } from 'preact';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { notify, notifyFailure } from './notices.tsx';

interface ShownOnceProps {
  readonly title: string;
  readonly about: string;
  readonly label: string;
  readonly secret: string;
  /** How it is used. */
  readonly children: ComponentChildren;
  close(): void;
}

/** A new secret, of which the server keeps only the hash. */
export function ShownOnce({ title, about, label, secret, children, close }: ShownOnceProps) {
  const copy = () =>
    navigator.clipboard.writeText(secret).then(() => notify(t('Copied')), notifyFailure);
  return (
    <Dialog title={title} close={close}>
      <p>{about}</p>
      <Field label={label} name="secret">
        {(attributes) => (
          <input
            {...attributes}
            class="secret"
            readOnly
            value={secret}
            onFocus={(event) => event.currentTarget.select()}
          />
        )}
      </Field>
      <p class="quiet">{children}</p>
      <div class="buttons end">
        <Button class="main" onClick={copy}>
          {t('Copy')}
        </Button>
        <Button onClick={close}>{t('Done')}</Button>
      </div>
    </Dialog>
  );
}
