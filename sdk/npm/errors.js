// What can go wrong, with a name for programs (code), and words for people (message, and remedy: what to do about it).
export class AntiphonError extends Error {
  name = "AntiphonError";

  constructor({ code, message, remedy = "" }, cause) {
    super(message, { cause });
    this.code = code;
    this.remedy = remedy;
  }
}

export const failure = (code, message, remedy, cause) => new AntiphonError({ code, message, remedy }, cause);

// read takes an error as the program tells it.
export const read = (text) => {
  const told = JSON.parse(text);
  return new AntiphonError(told, told.cause);
};
