package assistant

// This file tells stories.

import "github.com/antiphon-rt/antiphon/server/pipeline"

// again returns the last answer again, if the user asks for it.
func again(w []string, messages []pipeline.Message) (string, bool) {
	if !hasAny(w, "repeat that", "say that again", "what did you say", "say it again", "once more", "once again") {
		return "", false
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i]; m.Role == pipeline.RoleAssistant && m.Text != "" {
			return m.Text, true
		}
	}
	return "I have not said anything yet.", true
}

// story returns a long story, so that the user can interrupt it. Each time that a conversation asks for one it returns the next one.
func story(w []string, messages []pipeline.Message) (string, bool) {
	n := 0
	for _, m := range messages {
		if m.Role == pipeline.RoleUser && m.Text != "" && wantsStory(words(m.Text), n > 0) {
			n++
		}
	}
	if n == 0 || !wantsStory(w, n > 1) {
		return "", false
	}
	all := stories()
	return all[(n-1)%len(all)], true
}

// wantsStory reports whether the user asks for a story. "another one" means a story only if there was one before.
func wantsStory(w []string, before bool) bool {
	return hasAny(w, "story", "tale", "stories") || before && hasAny(w, "another one", "one more")
}

func stories() []string {
	return []string{
		"Once there were two choirs in one church, and they did not like each other. " +
			"One stood on the left side and one on the right, and each believed that it sang better. " +
			"Every Sunday both began at the same moment, and as loud as they could, so that nobody in the church understood a word. " +
			"One winter the old organist fell ill, and a girl of twelve was sent to play in his place. " +
			"She listened to the noise for one whole verse, and then she stopped playing. " +
			"The choirs went on for a while, and then they stopped too, because it is hard to quarrel in silence. " +
			"Now, said the girl, the left side sings one line, and while it sings, the right side listens. " +
			"Then the right side answers, and the left side listens. And when somebody on the other side draws a breath to speak, you wait. " +
			"They tried it, only because they were curious. The first line was shy. The answer was shy too. " +
			"But by the third verse something had happened that nobody in the village had heard before: they could hear one another. " +
			"After the service an old man came to the girl, with tears in his eyes, and asked her what she had done to the music. " +
			"Nothing, she said. It is the same music. I only gave both of them the same page, and told them to take turns. " +
			"And that is how they have sung ever since: one side, and then the other, and in between, a little silence.",
		"A lighthouse keeper lived on a rock in the north, and his only company was the fog horn. " +
			"Every night he wrote the ships that passed into a book: their names, their lights, and the hour. " +
			"In forty years he had never met one sailor, but he knew all of them by the way they steered. " +
			"There was one ship that came every spring, a small one with a green lantern, and it always blew its whistle twice. " +
			"The keeper answered with the horn, twice, and that was all that they ever said to each other. " +
			"One spring the ship did not come. He waited for a week, and wrote nothing into his book. " +
			"On the eighth night there was a storm, and in the middle of it he heard a whistle, very faint, and only once. " +
			"He ran to the horn and blew it, and he did not stop until the morning, although his hands were stiff with cold. " +
			"When the fog went up, the little ship lay behind the rock, without a mast, but whole. " +
			"The captain was a woman with white hair. She climbed up all the stairs and said: I lost my lantern, and I lost my way, but I knew that voice. " +
			"They drank tea, and neither of them could think of anything to say. " +
			"So when she left, she blew her whistle twice, and he answered twice, and both of them found that it was enough.",
		"In a small town there was a clockmaker whose clocks were all a little late. " +
			"People laughed at him, but they bought his clocks, because nobody who owned one was ever in a hurry. " +
			"The mayor did not like it. He ordered a new clock for the tower from the capital, one that was never wrong. " +
			"From that day on everybody ran. The baker burned his bread, the teacher forgot her jokes, and the trains left without half of the people. " +
			"After a month the mayor climbed the tower by himself at night, with a lantern and a hammer. " +
			"But the clockmaker was already there, with a small key in his hand. " +
			"Do not break it, he said. It only needs to learn to listen. And he turned one screw, by less than the width of a hair. " +
			"In the morning the clock was one minute late. The baker took the minute to taste his bread, and the teacher took it to look out of the window. " +
			"The train driver saw a child run across the square, and he waited. " +
			"Nobody ever found out who had done it. But the mayor bought a clock for his own desk that winter, and he put it where he could see it.",
	}
}
