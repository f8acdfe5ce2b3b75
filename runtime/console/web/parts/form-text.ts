/** The text of a control, without spaces around it. @example textIn(form, 'name') */
export const textIn = (form: FormData, name: string): string => String(form.get(name) ?? '').trim();

/** The words of a control, separated by spaces or commas. */
export const wordsIn = (form: FormData, name: string): string[] =>
  String(form.get(name) ?? '')
    .split(/[\s,]+/)
    .filter(Boolean);
