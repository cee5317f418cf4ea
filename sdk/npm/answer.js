// What a server's answer says, in the program's words.

// longest bounds what is shown of a refusal, in characters.
const longest = 500;

// words finds the words in the body of a refusal: those of {"error":{"message":…}}, or the body itself.
const words = (body) => {
  let told;
  try {
    told = JSON.parse(body).error.message;
  } catch {} // it has none
  return (told && typeof told === "string" ? told : body).trim().slice(0, longest);
};

// answered gives what a server's answer says beside its body; status is 0 when it is a good one.
export const answered = async (response) => {
  const header = (name) => response.headers.get(name) ?? "";
  return {
    status: response.ok ? 0 : response.status,
    message: response.ok ? "" : words(await response.text().catch(() => "")),
    antiphon: header("Antiphon-Version") !== "",
    location: header("Location"),
    token: header("Antiphon-Resume"),
    seen: header("Antiphon-Resume-Seen"),
  };
};
