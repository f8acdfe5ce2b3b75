import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Button } from './button.tsx';

/** Attributes that connect a control with its label, hint and error. */
export interface ControlAttributes {
  readonly id: string;
  readonly name: string;
  readonly required: boolean;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: boolean;
}

/** Further attributes of an input. */
interface InputSettings {
  readonly type?: string;
  readonly value?: string | number;
  readonly defaultValue?: string | number;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly inputMode?: 'numeric' | 'text' | 'email' | 'url';
  readonly pattern?: string;
  readonly min?: string | number;
  readonly max?: string | number;
  readonly step?: string | number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly autofocus?: boolean;
  readonly spellcheck?: boolean;
  readonly disabled?: boolean;
  readonly readOnly?: boolean;
  readonly onInput?: (event: TypedInputEvent) => void;
}

type TypedInputEvent = InputEvent & { readonly currentTarget: HTMLInputElement };

interface FieldProps extends InputSettings {
  readonly label: string;
  /** The name in the form's data. */
  readonly name: string;
  readonly required?: boolean;
  /** How to fill in the control. */
  readonly hint?: string;
  /** Why it was refused. */
  readonly error?: string | null;
  /** Makes it a `select`. */
  readonly options?: OptionsProps['of'];
  /** Makes another control than an input; it takes the given attributes. */
  readonly children?: (attributes: ControlAttributes) => ComponentChildren;
}

/**
 * A control with its label, a hint and an error.
 *
 * @example
 * <Field label={t('Name')} name="name" required hint={t('Lower case letters')} />
 * <Field label={t('Role')} name="role" options={roles.map(({ id, name }) => [id, name])} />
 */
export function Field({
  label,
  name,
  hint,
  error,
  options,
  children,
  required,
  ...input
}: FieldProps) {
  const id = useId();
  const wrong = error != null && error !== '';
  const described = [hint !== undefined && `${id}-hint`, wrong && `${id}-error`];
  const attributes: ControlAttributes = {
    id,
    name,
    required: required === true,
    ...(described.some(Boolean) && { 'aria-describedby': described.filter(Boolean).join(' ') }),
    ...(wrong && { 'aria-invalid': true }),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children?.(attributes) ??
        (options ? (
          <select {...attributes}>
            <Options of={options} />
          </select>
        ) : (
          <input {...(input as object)} {...attributes} />
        ))}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {wrong && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly on: boolean;
  change(on: boolean): void;
  readonly disabled?: boolean;
}

/**
 * A control that switches something on or off at once, without a form (role `switch`).
 *
 * @example <Switch label={t('As administrator')} on={on} change={setOn} />
 */
export function Switch({ label, on, change, disabled = false }: SwitchProps) {
  return (
    <Button
      role="switch"
      class="switch"
      aria-checked={on}
      disabled={disabled}
      onClick={() => change(!on)}
    >
      <span class="knob" aria-hidden="true" />
      {label}
    </Button>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: OptionsProps['of'];
  choose(value: string): void;
}

/**
 * A combobox whose choice takes effect at once, as in filters.
 *
 * @example <Choice label={t('Level')} value={level} options={[['info', 'info']]} choose={setLevel} />
 */
export function Choice({ label, value, options, choose }: ChoiceProps) {
  const id = useId();
  return (
    <span class="choice-box">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <Options of={options} chosen={value} />
      </select>
    </span>
  );
}

interface OptionsProps {
  readonly of: readonly (readonly [value: string, text: string])[];
  readonly chosen?: string;
}

/** What a `select` offers. */
export const Options = ({ of, chosen }: OptionsProps) => (
  <>
    {of.map(([value, text]) => (
      <option key={value} value={value} selected={value === chosen}>
        {text}
      </option>
    ))}
  </>
);

/** The text of a control, without spaces around it. @example textIn(form, 'name') */
export const textIn = (form: FormData, name: string): string => String(form.get(name) ?? '').trim();

/** The words of a control, separated by spaces or commas. */
export const wordsIn = (form: FormData, name: string): string[] =>
  String(form.get(name) ?? '')
    .split(/[\s,]+/)
    .filter(Boolean);
