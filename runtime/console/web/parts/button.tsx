import type { ComponentChildren } from 'preact';
import { CloseIcon } from './icons.tsx';

interface ButtonProps {
  onClick(): unknown;
  readonly children: ComponentChildren;
}

/**
 * A button that acts at once and sends no form.
 *
 * @example <Button onClick={retry}>{t('Retry')}</Button>
 */
export const Button = ({ onClick, children }: ButtonProps) => (
  <button type="button" onClick={() => void onClick()}>
    {children}
  </button>
);

/** A cross that closes or removes something. Its label is for screen readers. */
export const CloseButton = ({ label, onClick }: { readonly label: string; onClick(): unknown }) => (
  <button type="button" class="icon" aria-label={label} onClick={() => void onClick()}>
    <CloseIcon />
  </button>
);
