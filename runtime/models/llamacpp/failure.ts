/** An error in the form of the OpenAI API: `{"error": {message, type, param, code}}`. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(
    status: number,
    message: string,
    {
      param = null,
      code = null,
    }: { readonly param?: string | null; readonly code?: string | null } = {},
  ) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
  }

  body() {
    const type = this.status < 500 ? 'invalid_request_error' : 'server_error';
    return { error: { message: this.message, type, param: this.param, code: this.code } };
  }
}

/** The error of an invalid parameter. */
export const invalid = (param: string, what: string): ApiFailure =>
  new ApiFailure(400, `${param} ${what}`, { param });

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads numbers within limits; null when absent. @throws ApiFailure 400 that names the field. */
export const numbers =
  (fields: Fields) =>
  (name: string, min: number, max: number): number | null => {
    const value = fields[name];
    if (value === undefined || value === null) return null;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw invalid(name, `must be a number from ${min} to ${max}`);
  };

export function flag(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (value === undefined || value === null || typeof value === 'boolean') return value === true;
  throw invalid(name, 'must be true or false');
}
