import type { ButtonHTMLAttributes } from 'preact';
import { CloseIcon } from './icons.tsx';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'type' | 'onClick'> {
  onClick(): unknown;
}

/**
 * A button that acts at once and sends no form.
 *
 * @example <Button class="main" onClick={retry}>{t('Retry')}</Button>
 */
export const Button = ({ onClick, ...attributes }: ButtonProps) => (
  <button {...attributes} type="button" onClick={() => void onClick()} />
);

/**
 * A button of a row. Its name says what it acts on, too.
 *
 * @example <RowButton verb={t('Remove')} of={name} onClick={remove} /> // 'Remove data'
 */
export const RowButton = ({
  verb,
  of,
  ...attributes
}: ButtonProps & { readonly verb: string; readonly of: string }) => (
  <Button aria-label={`${verb} ${of}`} {...attributes}>
    {verb}
  </Button>
);

/** A cross that closes or removes something. Its label is for screen readers. */
export const CloseButton = ({ label, onClick }: { readonly label: string; onClick(): unknown }) => (
  <button type="button" class="icon" aria-label={label} onClick={() => void onClick()}>
    <CloseIcon />
  </button>
);
