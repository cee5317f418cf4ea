// The errors of the page's script: each has a code for programs, and for people a message and a remedy, which says what to do.
export class AntiphonError extends Error {
  name = "AntiphonError";

  constructor({ code, message, remedy = "" }, cause) {
    super(message, { cause });
    this.code = code;
    this.remedy = remedy;
  }
}

// failure returns an error of the page's script itself.
export const failure = (code, message, remedy, cause) => new AntiphonError({ code, message, remedy }, cause);

// read returns the error that the program reports as a JSON text.
export const read = (text) => {
  const fields = JSON.parse(text);
  return new AntiphonError(fields, fields.cause);
};
