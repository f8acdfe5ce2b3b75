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
