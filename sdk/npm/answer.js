// Reads the HTTP response to a placed or restarted call and turns it into the fields that the program takes.

// longest is the largest number of characters that is shown of a refusal.
const longest = 500;

// words returns the message in the body of a refusal: that of {"error":{"message":…}}, or else the body itself.
const words = (body) => {
  let message;
  try {
    message = JSON.parse(body).error.message;
  } catch {} // the body is no such JSON
  return (message && typeof message === "string" ? message : body).trim().slice(0, longest);
};

// answered returns the status and the headers of a server's response. status is 0 when the server accepted the request; otherwise
// message says why it did not.
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
